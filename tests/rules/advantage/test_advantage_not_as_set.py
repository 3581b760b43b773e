"""γ and λ of advantages that were made apart from the targets of the critic, and as they were set."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rldebug.evidence.script import Script
from rldebug.rules.advantage.advantage_not_as_set import AdvantageNotAsSet
from tests.forensics.simulated import Array, Rollout, gae, returns
from tests.programs.formula_learners import rollouts
from tests.programs.formulas import found, on_policy
from tests.watched import watched

SET = [
    {"kind": "option", "name": "gamma", "value": 0.97},
    {"kind": "option", "name": "gae_lambda", "value": 0.9},
]


def advantages(of: Rollout, gamma: float, carried: float) -> Array:
    made, sum_ = np.zeros_like(of.reward), np.zeros(of.reward.shape[1])
    for t in reversed(range(len(made))):
        led = np.where(of.truncated[t], of.final[t], of.value[t + 1])
        delta = of.reward[t] + gamma * np.where(of.terminated[t], 0.0, led) - of.value[t]
        made[t] = sum_ = delta + carried * np.where(of.done[t], 0.0, sum_)
    return (made - made.mean()) / made.std()


def script(gamma: float, carried: float) -> Script:
    made = on_policy(lambda of: returns(of, 0.97), lambda of: advantages(of, gamma, carried))
    return replace(made, notes=SET)


@pytest.mark.parametrize(
    ("gamma", "carried", "how"),
    [(0.9, 0.873, "λ in"), (1.0, 0.873, "not discounted"), (0.97**2, 0.873, "twice"), (0.97, 0.97, "no λ")],
)
def test_fires_where_it_is_another_one(gamma: float, carried: float, how: str) -> None:
    (finding,) = found(AdvantageNotAsSet(), script(gamma, carried))
    assert how in finding.message


def test_quiet_where_both_are_as_they_were_set() -> None:
    assert found(AdvantageNotAsSet(), script(0.97, 0.97 * 0.9)) == []


def test_quiet_where_the_advantages_have_a_number_of_their_own() -> None:
    assert found(AdvantageNotAsSet(), script(0.95, 0.95 * 0.9)) == []


def test_fires_in_a_program_that_was_watched() -> None:
    _, seen = watched(
        lambda: rollouts(lambda of: gae(of, 0.97, 1.0), lambda of: advantages(of, 0.9, 0.9 * 0.97), length=40)
    )
    assert len(found(AdvantageNotAsSet(), replace(seen, notes=[*seen.notes, *SET]))) == 1
