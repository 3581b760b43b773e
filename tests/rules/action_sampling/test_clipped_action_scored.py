"""Actions of a loss that pile up on a bound."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rldebug.evidence.script import Audit, Event, Script
from rldebug.rule import NotEnough
from rldebug.rules.action_sampling.clipped_action_scored import ClippedActionScored
from tests.judge import fires, quiet
from tests.programs.gaussian_learners import learn
from tests.programs.losses_made import term
from tests.programs.made import nodes
from tests.watched import watched

rule = ClippedActionScored()


def made(*, stored: bool, executed: bool = True, rollouts: int = 3, rows: int = 64) -> Script:
    audits = []
    for number in range(rollouts):
        draw = np.random.default_rng(number).normal(size=(rows, 1))
        clipped = np.clip(draw, -1, 1)
        of = nodes(np.arange(rows, dtype=np.float64)[:, None] + 0.5, phase=number)
        of = replace(of, action=clipped if executed else draw)
        learned = term(1, number, family="normal", action=clipped if stored else draw)
        learned.arrays["rows"] = np.arange(rows)  # type: ignore[index]
        loss = Event(0, "loss", number, 0, {"how": "backward"})
        audits.append(Audit(number, number, number, 0, of, (loss, learned)))
    return Script(audits, {"stream": {"0": {"index": 0, "steps": 64, "resets": 1, "lanes": 1}}})


def told(script: Script) -> int:
    try:
        return len(list(ClippedActionScored().check(script)))
    except NotEnough:
        return 0


def test_fires_stored_actions_that_were_clipped_are_found() -> None:
    assert told(made(stored=True)) == 1


def test_quiet_raw_actions_are_fine() -> None:
    assert told(made(stored=False)) == 0
    assert told(made(stored=False, executed=False)) == 0


def test_fires_where_rollouts_are_so_short_that_few_are_on_a_bound_in_each() -> None:
    assert told(made(stored=True, rollouts=12, rows=16)) == 1
    assert told(made(stored=False, rollouts=12, rows=16)) == 0


def test_fires_where_a_few_draws_lie_beyond_a_bound() -> None:
    found = fires(rule, watched(lambda: learn(changed=lambda action: action.clamp(-1.8, 1.8)))[1])
    assert "-1.8 or 1.8" in found.seen


def test_quiet_where_all_are_learned_as_they_were_drawn() -> None:
    quiet(rule, watched(learn)[1])
