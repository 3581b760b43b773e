"""A head that is drawn from, and whose log-prob is in no policy loss."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from rldebug.evidence.script import Event, Script
from rldebug.rules.policy_loss.head_left_out_of_log_prob import HeadLeftOutOfLogProb
from tests.programs.losses_made import script, term
from tests.watched import findings
from tests.wild import two_heads


def made(left_out: Sequence[int], drawn: Sequence[int] = (5, 2), odd: int = 0) -> Script:
    """`odd`: so many losses of each audit have it all."""
    audits = [
        [
            [term(1, number, ratio=np.ones(8), entropies=[2, 5], unpicked=[] if which < odd else list(left_out))]
            for which in range(3)
        ]
        for number in range(2)
    ]
    whole = script(audits)
    for audit in whole.audits:
        acted: list[Event] = [Event(90, "call", 0, 0, {"module": "net", "grad": False, "calls": 40})]
        for choices in drawn:
            shown = {"params": np.ones((40, choices)), "result": np.zeros((40, 1))}
            acted.append(Event(91, "sample", 0, 0, {"params": ["logits"], "calls": 40}, shown))
        object.__setattr__(audit, "events", (*audit.events, *acted))
    return whole


def test_fires_where_one_of_two_heads_is_left_out() -> None:
    (finding,) = HeadLeftOutOfLogProb().check(made([2]))
    assert "among 2 " in finding.seen


def test_quiet_where_all_are_scored() -> None:
    assert not list(HeadLeftOutOfLogProb().check(made([])))


def test_quiet_where_it_is_never_drawn_from() -> None:
    assert not list(HeadLeftOutOfLogProb().check(made([2], drawn=(5,))))


def test_quiet_where_another_loss_has_it() -> None:
    assert not list(HeadLeftOutOfLogProb().check(made([2], odd=1)))


def test_fires_in_a_program_that_was_watched() -> None:
    assert findings(lambda: two_heads.program("second-head-not-scored"), "POL522")


@pytest.mark.parametrize("style", ["", "a-loss-each", "asked-twice", "value-detached", "features-of-their-own"])
def test_quiet_in_sound_programs(style: str) -> None:
    assert not findings(lambda: two_heads.program(style=style), "POL522", "GRA520", "ACT376", "POL353")
