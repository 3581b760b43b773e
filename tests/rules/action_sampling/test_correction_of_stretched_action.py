from dataclasses import replace

import numpy as np

from rldebug.evidence.script import Event, Script
from rldebug.rules.action_sampling.correction_of_stretched_action import CorrectionOfStretchedAction
from tests.judge import fires, not_enough, quiet
from tests.programs.actor_critic import script

rule = CorrectionOfStretchedAction()


def learned(lost):
    """A target of which the rows are lost that `lost` says, given tanh(u) stretched by 2."""
    seen = script(audits=1, updates=0)
    drawn = np.random.default_rng(1).normal(size=(64, 2))
    target = np.where(lost(2 * np.tanh(drawn)), np.nan, 1.0)
    events = (
        Event(
            0, "logp", 0, 0, {"dist": "Normal", "attached": False},
            {"value": drawn, "result": -(drawn**2), "orders": np.zeros(64)},
        ),
        Event(1, "term", 0, 0, {"kind": "regression", "line": ["train.py", 4]}, {"target": target}),
    )  # fmt: skip
    facts = {"action_low": [-2.0, -2.0], "action_high": [2.0, 2.0]}
    stream = {**seen.things["stream"]["0"], "facts": facts}
    return Script([replace(seen.audits[0], events=events)], {**seen.things, "stream": {"0": stream}})


def test_fires_where_just_the_large_actions_are_lost():
    assert "those whose action is above 1" in fires(rule, learned(lambda a: (abs(a) > 1).any(axis=1))).seen


def test_quiet_where_other_rows_are_lost():
    quiet(rule, learned(lambda a: (a > 1.9).any(axis=1) | (a[:, 0] < 0)))


def test_declines_where_nothing_is_lost():
    not_enough(rule, learned(lambda a: np.zeros(len(a), dtype=bool)))
