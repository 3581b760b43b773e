from __future__ import annotations

from functools import partial

import pytest

from rldebug.evidence.script import Script
from rldebug.finding import Finding
from rldebug.rule import NotEnough
from rldebug.rules.buffer.last_steps_masked_out import LastStepsMaskedOut
from tests.programs.padded import program
from tests.watched import watched


def found(fault: str = "") -> list[Finding]:
    return list(LastStepsMaskedOut().check(watched(partial(program, fault))[1]))


def test_fires_where_the_mask_is_one_too_short() -> None:
    (finding,) = found("last step masked")
    assert "last steps" in finding.seen


def test_quiet_on_padded_episodes_that_are_masked() -> None:
    assert not found()


def test_quiet_without_sequences() -> None:
    with pytest.raises(NotEnough):
        list(LastStepsMaskedOut().check(Script()))
