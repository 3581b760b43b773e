"""What the prose says is so: paths exist, codes and commands exist, configuration shown is accepted, code parses, and
what is marked with <!-- runs --> runs."""

import ast
import importlib.util
import os
import pkgutil
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import rldebug.commands
from rldebug import catalogue
from rldebug.config import read_config
from rldebug.diagnose import choose
from rldebug.trap import set_traps
from tests.commands.typed import name_check, parse, rldebug_lines

ROOT = Path(__file__).parents[1]
DOCS = sorted(each for each in (ROOT / "docs").rglob("*.md") if "catalogue" not in each.parts)
PAGES = [*(ROOT / name for name in ("README.md", "CHANGELOG.md", "SECURITY.md")), *DOCS]
FENCED = re.compile(r"^(?P<indent> *)```(?P<kind>\w*)\n(?P<body>.*?)^(?P=indent)```", re.MULTILINE | re.DOTALL)
RUNS = re.compile(r"<!-- runs(?P<status>(?: \d)*) -->\n+```(?P<kind>\w*)\n(?P<body>.*?)^```", re.MULTILINE | re.DOTALL)


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.fixture(params=PAGES, ids=named)
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
    typed = "\n".join(textwrap.dedent(block["body"]) for block in FENCED.finditer(page))
    for verb in re.findall(r"`make ([a-z-]+)", page) + re.findall(r"^make ([a-z-]+)", typed, re.MULTILINE):
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


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "bench" / "README.md"], ids=named)
def test_code_parses_and_command_lines_can_be_typed(page):
    text = page.read_text(encoding="utf-8")
    for block in FENCED.finditer(text):
        body = textwrap.dedent(block["body"])
        if block["kind"] == "python":
            ast.parse(re.sub(r",\s*…", "", body).replace("…", "..."))  # … stands for what is left out
        elif block["kind"] in ("", "yaml"):
            for words in rldebug_lines(re.sub(r"^ *- ", "", body, flags=re.MULTILINE)):
                parse(words)
    for mention in re.findall(r"`(rldebug [^`]+)`", FENCED.sub("", text)):
        for words in rldebug_lines(mention.replace("…", "")):
            name_check(words)


def test_every_page_is_in_the_menu():
    """mkdocs tells of pages that are in no menu only where somebody reads its output."""
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("nav:")[2].partition("not_in_nav")[0]
    assert not [each for each in DOCS if each.relative_to(ROOT / "docs").as_posix() not in menu]


MARKED = [
    pytest.param(block, id=f"{named(page)}-{number}")
    for page in PAGES
    for number, block in enumerate(RUNS.finditer(page.read_text(encoding="utf-8")), 1)
]


@pytest.mark.integration
@pytest.mark.parametrize("block", MARKED)
def test_what_is_marked_runs(block):
    """In a folder beside a copy of examples/. `runs 1`: with exit status 1."""
    shutil.copytree(ROOT / "examples", "examples")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PATH": f"{_commands()}:{os.environ['PATH']}"}
    program = [sys.executable, "-c"] if block["kind"] == "python" else ["bash", "-e", "-c"]
    done = subprocess.run([*program, block["body"]], env=environment, capture_output=True, text=True, timeout=100)
    assert done.returncode == int(block["status"] or 0), f"{block['body']}\n{done.stdout}\n{done.stderr}"


def _commands() -> Path:
    """A folder with `rldebug` and `python` in it, wherever these tests run."""
    folder = Path("bin").absolute()
    folder.mkdir()
    for name, command in (("rldebug", "-m rldebug "), ("python", "")):
        (folder / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {command}"$@"\n', encoding="utf-8")
        (folder / name).chmod(0o755)
    return folder
