from __future__ import annotations

from functools import partial

import pytest

from rldebug.evidence.script import Script
from rldebug.finding import Finding
from rldebug.rule import NotEnough
from rldebug.rules.value_loss.padding_learned_by_critic import PaddingLearnedByCritic
from tests.programs.padded import program
from tests.watched import watched


def found(fault: str = "") -> list[Finding]:
    return list(PaddingLearnedByCritic().check(watched(partial(program, fault))[1]))


def test_fires_where_the_error_is_a_mean_over_all_rows() -> None:
    (finding,) = found("critic learns filler")
    assert "after the end" in finding.seen


def test_quiet_on_padded_episodes_that_are_masked() -> None:
    assert not found()


def test_quiet_without_sequences() -> None:
    with pytest.raises(NotEnough):
        list(PaddingLearnedByCritic().check(Script()))
