# Every verb sets up what it needs: `make demo` and `make test` work on a bare machine with Python 3.10 or newer.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check --constraint constraints.txt

# Small networks run fastest, and repeatably, on one thread.
export OMP_NUM_THREADS := 1
export MKL_NUM_THREADS := 1
export NUMBA_NUM_THREADS := 1

.DEFAULT_GOAL := help
.PHONY: help demo test test-integrations libraries check slow docs wheel new format bench zoo learning clean

help:  ## list these verbs
	@sed -n 's/^\([a-z-]*\):.*  ## /\1\t/p' $(MAKEFILE_LIST) | expand -t 19

demo: $(VENV)/.installed  ## train a small PPO with a planted bug and its healthy twin, and name the bug
	@$(BIN)/rldebug demo

# Compiled first: else, where PYTHONDONTWRITEBYTECODE is set, hundreds of interpreters would each compile a thousand files.
test: $(VENV)/.installed $(VENV)/.browser  ## the quick tests
	@$(BIN)/python -m compileall -q -j 2 src
	@$(BIN)/python -m pytest -q -n 2 --dist worksteal

test-integrations: $(VENV)/.integrations  ## each integration beside the real library, and a Ray cluster of two nodes (minutes)
	@$(BIN)/python -m pytest -q -n 2 --dist worksteal -m integration -o faulthandler_timeout=900 $(ONLY)

libraries: $(VENV)/.integrations  ## install the libraries that the integrations are for

check: $(VENV)/.installed  ## lint, types, import order, CATALOGUE.md current
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m rldebug.render.docs --check

slow: $(VENV)/.bench $(VENV)/.integrations  ## the tests that take minutes, and all integrations; that the algorithms learn (an hour or two)
	@$(BIN)/python -m pytest -q -n 2 --dist worksteal -m 'slow or integration' -o faulthandler_timeout=3600

docs: $(VENV)/.docs  ## build the site into site/
	$(BIN)/python -m rldebug.render.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

wheel: $(VENV)/.installed  ## build wheel and sdist into dist/, and try the wheel in an empty environment (minutes)
	@rm -rf dist
	@$(BIN)/python -m pip wheel -q --disable-pip-version-check --no-build-isolation --no-deps --wheel-dir dist .
	@$(BIN)/python -m hatchling build -t sdist -d dist
	@PYTHON=$(BIN)/python scripts/smoke_wheel.sh dist/*.whl

new:  ## scaffold a rule and its failing test: make new rule=entropy-collapse in=entropy
	@$(PYTHON) scripts/new_entry.py --rule "$(rule)" --in "$(in)"

format: $(VENV)/.installed  ## fix what ruff can fix
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.bench  ## speed, beside the peers: watching, returns, buffers, processes, training runs; probes, shipped environments, oracles; graphs, lint; what a profile says; the dashboard on five million readings
	@status=0; for each in overhead returns buffers reduce throughput probes envs oracles graph lint attribution speedups dashboard; do \
		echo; echo "== bench/$$each.py"; $(BIN)/python bench/$$each.py || status=1; done; exit $$status

zoo: $(VENV)/.installed  ## planted bugs found, healthy programs accused: a tenth of the bug benchmark, in minutes
	@$(BIN)/rldebug bench --quick

learning: $(VENV)/.bench  ## do the algorithms learn? five seeds of each, beside the peers (hours)
	@$(BIN)/python bench/learning.py

clean:  ## remove the environment, caches and everything generated
	rm -rf $(VENV) build dist site docs/catalogue
	rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +

$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
		{ echo 'rldebug needs Python 3.10 or newer: make PYTHON=python3.12 …' >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo '$(PYTHON) cannot make virtual environments. On Debian or Ubuntu: apt-get install python3-venv python3-pip' >&2; exit 1; }
	@echo 'Installing rldebug and its tools into $(VENV) (minutes the first time) …'
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) --editable '.[dev]'
	@touch $@

# The dashboard is tested in a real browser. Debian and Ubuntu have one; elsewhere set RLDEBUG_CHROMIUM to yours.
$(VENV)/.browser: $(VENV)/.installed
	@if [ -z "$$RLDEBUG_CHROMIUM" ] && ! command -v chromium >/dev/null && ! command -v google-chrome >/dev/null; then \
		echo 'Installing chromium, for the tests of the dashboard …'; \
		if [ "$$(id -u)" = 0 ]; then as=; else as='sudo -n'; fi; \
		{ $$as apt-get update -qq && $$as env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium; } >/dev/null || \
		{ echo 'no browser: apt-get install chromium, or set RLDEBUG_CHROMIUM to one' >&2; exit 1; }; \
	fi
	@touch $@

$(VENV)/.bench: $(VENV)/.installed
	@$(PIP) --editable '.[dev,bench]'
	@touch $@

$(VENV)/.integrations: $(VENV)/.installed
	@$(PIP) --editable '.[dev,integrations]'
	@touch $@

$(VENV)/.docs: $(VENV)/.installed
	@$(PIP) --editable '.[docs]'
	@touch $@
