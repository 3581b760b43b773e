"""No error text that users are known to meet goes unexplained."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

import tests.errors
from tests.errors.cases import Case, cases_in

ROWS = """
M001 M002 M003 M004 M005 M006 M008 M009 M011 M012 M013 M014 M016 M017 M018 M019 M020 M022 M024 M025 M026 M027
M029 M030 M031 M033 M034 M036 M037 M038 M039 M040 M041 M042 M043 M045 M046 M047 M049 M050 M051 M052 M053 M054
M057 M058 M059 M060 M061 M062 M064 M065 M066 M067 M069 M070 M071 M072 M073 M074 M075 M076 M078 M080 M081 M082
M083 M086 M087 M088 M090 M091 M093 M094 M095 M096 M097 M099 M100 M101
"""


def _cases() -> list[Case]:
    found = []
    for info in pkgutil.iter_modules(tests.errors.__path__):
        if info.name.startswith("test_") and info.name != "test_every_row":
            found += cases_in(vars(importlib.import_module(f"tests.errors.{info.name}")))
    return found


def _by_other_tests() -> set[str]:
    """What needs a process of its own is a test of its own: test_m088_…"""
    named = re.compile(r"^def test_(m\d{3})_", re.MULTILINE)
    texts = [file.read_text(encoding="utf-8") for file in Path(__file__).parent.glob("test_*.py")]
    return {each.upper() for text in texts for each in named.findall(text)}


def test_every_row_is_raised_and_explained():
    shown = {case.id.split()[0] for case in _cases()} | _by_other_tests()
    assert [row for row in ROWS.split() if row not in shown] == []


def test_further_texts_are_explained():
    further = {case.id.split()[0] for case in _cases()} - set(ROWS.split())
    assert len(further) >= 25


def test_ids_are_different():
    ids = [case.id for case in _cases()]
    assert [each for each in ids if ids.count(each) > 1] == []
