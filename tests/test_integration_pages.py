"""Each integration has a page, an example, tests and a place in the matrix, with the versions that are tested."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "integrations"
INDEX = (PAGES / "index.md").read_text(encoding="utf-8")
NAMES = sorted(each.stem for each in PAGES.glob("*.md") if each.stem != "index")
PINS = dict(re.findall(r"^([\w.-]+)==([\w.]+)", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize("name", NAMES)
def test_each_page_has_an_example_and_tests_beside_the_real_library(name):
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    runs = re.findall(r"^rldebug (?:run|env|probe) ", page, re.MULTILINE)
    assert blocks or runs, "neither an example in Python nor a command"
    for block in blocks:
        ast.parse(block.replace("…", "..."))
    assert f"]({name}.md)" in INDEX
    tests = ROOT / "tests" / "integrations" / f"test_{name}.py"
    text = (tests if tests.exists() else tests.with_name("test_vector_envs.py")).read_text(encoding="utf-8")
    assert "pytest.mark.integration" in text
    assert "def test_" in text


def test_versions_are_those_that_are_tested():
    told = re.findall(r"([a-z0-9_-]+) (\d+\.\d+(?:\.\d+)*)(?=[,. |])", INDEX)
    assert len(told) >= 12
    for name, version in told:
        assert PINS[name] == version, name


def test_every_integration_is_told_of():
    shelf = {each.stem for each in (ROOT / "src" / "rldebug" / "integrations").glob("*.py")} - {"__init__"}
    known = {*NAMES, "ray", "handing_over"}  # the last is what several of them share
    helpers = {each for each in shelf if each.partition("_")[0] in known}
    assert shelf - known - helpers == set()
