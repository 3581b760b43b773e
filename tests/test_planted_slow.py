"""Slow programs whose reason is known: well formed, and `rldebug profile` names the reason."""

import ast
import json
import os
import re
import subprocess
import sys
from collections import Counter

import pytest

from rldebug import catalogue
from rldebug.evidence.timing import PARTS
from tests.planted_slow import FOLDER, HEALTHY, environment, programs

PROGRAMS = programs()
ALLOWED = {"torch", "numpy", "gymnasium", "rldebug", *sys.stdlib_module_names}


def imported(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (each.name.partition(".")[0] for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]


def without_comments(text):
    return ast.dump(ast.parse(text))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.file.stem)
def test_it_has_a_mended_twin_that_differs_in_more_than_comments(program):
    slow, mended = (each.read_text(encoding="utf-8") for each in (program.file, program.mended))
    assert without_comments(slow) != without_comments(mended)
    assert "# here" not in mended
    assert not re.search(r"^# (planted|part)", mended, re.M)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.file.stem)
def test_what_is_planted_is_in_the_catalogue(program):
    rule = catalogue.find(program.code)
    assert rule.name == program.name
    assert program.part in PARTS
    assert program.file.stem.partition("__")[0] == program.name.replace("-", "_")


@pytest.mark.parametrize("file", sorted([*FOLDER.glob("[a-z]*.py"), *HEALTHY]), ids=lambda each: each.stem)
def test_programs_need_little_and_time_themselves(file):
    text = file.read_text(encoding="utf-8")
    needs = ALLOWED | ({"stable_baselines3"} if file.stem.startswith("sb3") else set())
    assert set(imported(text)) <= needs
    assert "seconds=" in text


def test_there_are_enough_of_them():
    codes = Counter(each.code for each in PROGRAMS)
    assert len(PROGRAMS) >= 26
    assert len(codes) >= 20
    assert len(HEALTHY) >= 6
    for often in ("PRF900", "PRF901", "PRF902", "PRF904", "PRF913", "PRF914", "PRF929"):
        assert codes[often] >= 2, f"{often} is shown in one style alone"


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.file.stem)
def test_the_reason_is_named(program, tmp_path):
    report = tmp_path / "report.json"
    command = [sys.executable, "-m", "rldebug", "profile", "--quiet", "--json", str(report), str(program.file)]
    env = environment(dict(os.environ), program.own_threads)
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    read = json.loads(report.read_text(encoding="utf-8"))
    assert program.code in {each["code"] for each in read["findings"]}, read["timing"]["parts"]
