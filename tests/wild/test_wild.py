"""Small programs as people write them, each with its faults: under the real hooks a fault is named, and the healthy
program is left in peace by every rule there is."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

from rldebug.config import Config
from rldebug.diagnose import diagnose
from tests import wild

PROGRAMS = {
    each.name: importlib.import_module(f"tests.wild.{each.name}")
    for each in pkgutil.iter_modules(wild.__path__)
    if not each.name.startswith("test_")
}
FAULTS = [(name, fault, code) for name, module in PROGRAMS.items() for fault, code in module.FAULTS.items()]


def findings(name, fault="", *codes):
    report = diagnose([*wild.seen(name, fault)], config=Config(select=codes), command="run")
    assert not report.broken, "\n".join(report.broken.values())
    return report.findings


@pytest.mark.parametrize(("name", "fault", "code"), FAULTS)
def test_a_fault_is_named(name, fault, code):
    assert findings(name, fault, code)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_healthy_program_is_left_in_peace(name):
    assert not [each for each in findings(name) if each.severity != "note"]
