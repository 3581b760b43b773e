from __future__ import annotations

from functools import partial

import pytest

from rldebug.evidence.script import Script
from rldebug.finding import Finding
from rldebug.rule import NotEnough
from rldebug.rules.buffer.memory_not_carried import MemoryNotCarried
from tests.programs.padded import program
from tests.watched import watched


def found(fault: str = "") -> list[Finding]:
    return list(MemoryNotCarried().check(watched(partial(program, fault))[1]))


def test_fires_where_each_step_begins_without_a_state() -> None:
    (finding,) = found("state not carried")
    assert "no state" in finding.seen


def test_quiet_on_padded_episodes_that_are_masked() -> None:
    assert not found()


def test_quiet_without_sequences() -> None:
    with pytest.raises(NotEnough):
        list(MemoryNotCarried().check(Script()))
