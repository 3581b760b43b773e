from __future__ import annotations

from functools import partial

import pytest

from rldebug.finding import Finding
from rldebug.rule import NotEnough
from rldebug.rules.buffer.observation_after_its_action import ObservationAfterItsAction
from tests.programs.normalised import program
from tests.watched import watched


def found(fault: str = "") -> list[Finding]:
    return list(ObservationAfterItsAction().check(watched(partial(program, fault))[1]))


def test_fires_where_rows_are_stored_after_the_step() -> None:
    (finding,) = found("stored after the step")
    assert finding.severity == "error"
    assert "step before" in finding.seen


@pytest.mark.parametrize("fault", ["", "normalised when learned"])
def test_quiet_where_rows_are_those_that_were_acted_on(fault: str) -> None:
    with pytest.raises(NotEnough):  # every row is traced: none is only nearly one
        found(fault)
