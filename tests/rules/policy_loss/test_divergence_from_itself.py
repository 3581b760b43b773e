"""A divergence that is 0 although the policy has moved."""

from __future__ import annotations

import numpy as np
import pytest

from rldebug.evidence.script import Script
from rldebug.rule import NotEnough
from rldebug.rules.policy_loss.divergence_from_itself import DivergenceFromItself
from tests.programs.losses_made import script, term


def made(apart: float, moved: float = 0.1) -> Script:
    losses = []
    for number in range(5):
        mean = np.random.default_rng(number).normal(size=64)
        policy = term(1, number, ratio=np.linspace(1 - moved, 1 + moved, 32))
        divergence = term(2, number, "other", op="divergence", action=mean + apart, mean=mean)
        losses.append([[policy, divergence]])
    return script(losses)


def test_fires_the_same_policy_twice_is_found() -> None:
    assert len(list(DivergenceFromItself().check(made(0.0)))) == 1


def test_quiet_another_policy_is_fine() -> None:
    assert list(DivergenceFromItself().check(made(0.01))) == []


def test_quiet_before_the_policy_has_moved() -> None:
    with pytest.raises(NotEnough):
        list(DivergenceFromItself().check(made(0.0, moved=0.0)))
