"""What the prose says is so: paths exist, codes and commands exist, configuration shown is accepted."""

import importlib.util
import pkgutil
import re
from pathlib import Path

import pytest

import rldebug.commands
from rldebug import catalogue
from rldebug.config import read_config
from rldebug.diagnose import choose
from rldebug.trap import set_traps

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "how-to").glob("*.md"))]


@pytest.fixture(params=PAGES, ids=lambda each: each.name)
def page(request):
    return request.param.read_text(encoding="utf-8")


def test_paths_exist(page):
    for path in re.findall(r"(?<![\w./])(?:tests|src|docs|examples|scripts|bench)/[\w./-]+[\w]", page):
        assert (ROOT / path).exists() or path == "docs/catalogue", path


def test_codes_exist(page):
    known = {rule.code for rule in catalogue.rules()}
    for code in re.findall(r"\b[A-Z]{3}\d{3}\b", page):
        assert code in known, code


def test_commands_exist(page):
    known = {info.name for info in pkgutil.iter_modules(rldebug.commands.__path__)}
    for name in re.findall(r"`rldebug ([a-z]+)", page):
        assert name in known, name


def test_make_verbs_exist(page):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for verb in re.findall(r"(?:`|^)make ([a-z]+)", page, re.MULTILINE):
        assert re.search(rf"^{verb}:", makefile, re.MULTILINE), verb


def test_configuration_is_accepted(page):
    for block in re.findall(r"```toml\n(.*?)```", page, re.DOTALL):
        if "[tool.rldebug]" in block:
            Path("pyproject.toml").write_text(block, encoding="utf-8")
            assert choose(read_config())


def test_traps_are_traps(page):
    for name, action in re.findall(r'"([a-z]+(?:-[a-z]+)+)": "(raise|pdb|snapshot)"', page):
        assert set_traps({name: action})


def test_metrics_exist(page):
    known = {name for metric in catalogue.metrics() for name in metric.names}
    families = {name.partition("/")[0] for name in known if "/" in name} - {"user", "env", "docs", "tests", "metrics"}
    for name in re.findall(r"`([a-z_]+/[a-z_0-9]+)(?:@\w+)?`", page):
        assert name in known or name.partition("/")[0] not in families, name


def test_public_names_exist(page):
    import rldebug as package

    for name in re.findall(r"`rldebug\.([A-Za-z_]+)", page):
        assert hasattr(package, name) or importlib.util.find_spec(f"rldebug.{name}"), name
