"""What follows the actions that a mask has left."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rldebug.evidence.script import Audit, Event, Script
from rldebug.rule import NotEnough
from rldebug.rules.action_sampling.mask_leaves_forbidden_actions import MaskLeavesForbiddenActions
from tests.programs.made import nodes

STEPS = 60


def made(punished: float, *, ends: bool = True, masked: bool = True) -> Script:
    audits = []
    rows = np.arange(STEPS)
    for number in range(3):
        rng = np.random.default_rng(number)
        params = rng.dirichlet(np.ones(4), STEPS)
        params[:, 3] = 0.0 if masked else 0.1
        hit = rng.random(STEPS) < punished
        of = nodes(rows[:, None] + 0.5, phase=number)
        of = replace(
            of,
            reward=np.where(hit, -1.0, 0.2),
            terminated=hit & ends,
            action=np.ones((STEPS, 1)),
            obs_stats=np.concatenate([of.obs_stats, rows[:, None] + 0.5], axis=1),
        )
        at = rows + 1
        arrays = {"params": params, "result": np.ones(STEPS, np.int64), "at": at}
        acting = Event(0, "call", number, 0, {"module": "net", "acting": True}, {"rows": rows, "at": at})
        audits.append(Audit(number, 0, 0, 0, of, (acting, Event(1, "sample", 0, 0, {"params": ["probs"]}, arrays))))
    return Script(audits)


def found(script: Script) -> list[str]:
    return [each.seen for each in MaskLeavesForbiddenActions().check(script)]


def test_fires_where_every_action_that_is_left_ends_badly() -> None:
    assert "180 of 180" in found(made(1.0))[0]


def test_quiet_where_some_go_well() -> None:
    assert not found(made(0.6))


def test_quiet_where_the_lowest_reward_is_no_end() -> None:
    assert not found(made(1.0, ends=False))


def test_quiet_where_nothing_is_ruled_out() -> None:
    with pytest.raises(NotEnough):
        found(made(1.0, masked=False))
