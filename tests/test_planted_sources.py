"""Every rule that reads the source names its mistake in a whole program, and says nothing of the mended one."""

import pytest

from rldebug import catalogue
from rldebug.diagnose import diagnose
from rldebug.evidence.source import parsed
from tests.planted_sources import programs

PROGRAMS = programs()


@pytest.fixture(autouse=True, scope="module")
def _only_rules_that_read_sources():
    with catalogue.narrowed(frozenset({"Source"})):
        yield


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.file.stem)
def test_the_mistake_is_named_and_nothing_else(program):
    report = diagnose([parsed(program.text, program.file.name)])
    assert not report.broken
    told = [each for each in report.roots if each.severity != "note" or each.name in program.names]
    assert told, "nothing was found"
    assert told[0].name == program.names[0]
    assert {each.name for each in told} <= set(program.names), [f"{each.where} {each.message}" for each in told]
    assert told[0].where.line == program.line


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.file.stem)
def test_the_mended_program_is_quiet(program):
    report = diagnose([parsed(program.healthy, program.file.name)])
    assert not report.broken
    assert [f"{each.where} {each.message}" for each in report.findings if each.severity != "note"] == []
    assert not {each.name for each in report.findings} & set(program.names)
