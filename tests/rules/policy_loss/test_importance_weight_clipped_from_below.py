from dataclasses import replace

import numpy as np
import pytest

from rldebug.evidence.script import Event, Script
from rldebug.rules.policy_loss.importance_weight_clipped_from_below import ImportanceWeightClippedFromBelow
from tests.judge import fires, not_enough, quiet
from tests.programs.actor_critic import script

rule = ImportanceWeightClippedFromBelow()


def traced(clip):
    """V-trace targets of one rollout, with weights that `clip` has gone over."""
    seen = script(audits=1, updates=0)
    nodes = seen.audits[0].nodes
    random = np.random.default_rng(0)
    rows = np.arange(len(nodes) - 1)
    value = random.normal(size=len(rows))
    weight = clip(np.exp(random.normal(size=len(rows))))
    target = value.copy()
    for at in range(len(rows) - 2, -1, -1):
        target[at] = value[at] + weight[at] * (nodes.reward[at] + 0.99 * target[at + 1] - value[at])
    arrays = {"prediction": value, "target": target, "rows": rows}
    event = Event(0, "term", 0, 0, {"kind": "regression", "line": ["train.py", 4]}, arrays)
    return Script([replace(seen.audits[0], events=(event,))], seen.things)


def test_fires_where_weights_are_held_above_one():
    assert "others lie above" in fires(rule, traced(lambda weight: np.maximum(weight, 1.0))).seen


def test_quiet_where_weights_are_held_below_one():
    quiet(rule, traced(lambda weight: np.minimum(weight, 1.0)))


@pytest.mark.parametrize("clip", [lambda weight: weight, lambda weight: np.ones_like(weight)])
def test_declines_where_no_clip_is_felt(clip):
    not_enough(rule, traced(clip))
