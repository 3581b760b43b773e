from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rldebug.evidence.script import Event, Script
from rldebug.rules.evaluation.evaluated_action_not_squashed import EvaluatedActionNotSquashed
from tests.judge import fires, not_enough, quiet
from tests.programs.made import call, nodes, script

rule = EvaluatedActionNotSquashed()
STEPS, TESTED, BOUND = 40, 15, 2.0
ALL = STEPS + TESTED


def played(way: str = "as it is", trained: str = "squashed", halves: bool = False, large: float = 0.8) -> Script:
    """Two audits of training in environment 0 and of an evaluation in environment 1."""
    random = np.random.default_rng(3)
    audits = []
    for number in range(2):
        obs = random.normal(size=(ALL, 3))
        mean = large * random.uniform(-1, 1, size=(ALL, 2)).astype(np.float32)
        spread = np.full((ALL, 2), 0.1, dtype=np.float32)
        said = np.concatenate([mean, spread], axis=1) if halves else mean
        drawn = (mean + spread * random.normal(size=mean.shape)).astype(np.float32)[:STEPS]
        acted = {"squashed": BOUND * np.tanh(drawn), "as it is": drawn}[trained]
        later = {
            "as it is": mean, "cut off": np.clip(mean, -BOUND, BOUND), "squashed": BOUND * np.tanh(mean),
            "noisy": BOUND * np.tanh(mean + 0.1), "stretched": BOUND * mean,
        }[way][STEPS:]  # fmt: skip
        found = nodes(obs, stream=np.repeat([0, 1], [STEPS, TESTED]), phase=number)
        found = replace(found, action=np.concatenate([acted, later]).astype(np.float64))
        events = []
        for place, rows in enumerate((np.arange(STEPS), np.arange(STEPS, ALL))):
            one = call(5 + 2 * place, rows, obs[rows], acting=True)
            orders = 10 * place + np.arange(len(rows))
            many = {"orders": orders, "updates": np.full(len(rows), 1 + number), "at": rows, "output0": said[rows]}
            events.append(replace(one, update=1 + number, arrays={**one.arrays, **many}))
        params = np.concatenate([mean, spread], axis=1)[:STEPS]
        events.append(Event(8, "sample", 1 + number, 0, {"dist": "Normal"}, {"result": drawn, "params": params}))
        events.append(Event(9, "term", 1 + number, 0, {"kind": "regression"}, {"rows": np.arange(STEPS)}))
        audits.append((found, events))
    facts = {"class": "Cart", "wrappers": ["TimeLimit"], "action_low": [-BOUND] * 2, "action_high": [BOUND] * 2}
    own = {"facts": facts, "steps": 1000, "phases": 900}
    return script(audits, [own, {**own, "steps": 200, "phases": 4}])


@pytest.mark.parametrize("halves", [False, True])
@pytest.mark.parametrize("way", ["as it is", "cut off", "stretched"])
def test_fires_where_the_mean_is_executed(way, halves):
    assert "100%" in fires(rule, played(way, halves=halves)).seen


@pytest.mark.parametrize("way", ["squashed", "noisy"])
def test_quiet_where_its_tanh_is(way):
    quiet(rule, played(way))


def test_a_policy_that_is_not_squashed_in_training_either_is_left_alone():
    not_enough(rule, played(trained="as it is"))


def test_numbers_that_are_their_own_tanh_tell_nothing():
    not_enough(rule, played(large=0.01))
