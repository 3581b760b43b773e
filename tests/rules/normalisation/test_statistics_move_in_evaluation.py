from __future__ import annotations

import numpy as np
import torch
from torch import nn

from rldebug.rules.normalisation.statistics_move_in_evaluation import StatisticsMoveInEvaluation
from tests import wild
from tests.judge import fires, not_enough, quiet
from tests.programs.worlds import Line, learn
from tests.watched import watched

rule = StatisticsMoveInEvaluation()


class Exam:
    """Plays with observations that are normalised, or bent."""

    def __init__(self, *, moves: bool = False, bent: bool = False, steps: int = 100) -> None:
        self.env, self.moves, self.bent, self.steps = Line(), moves, bent, steps
        self.count, self.mean, self.square = 40.0, np.zeros(2), np.ones(2)

    def given(self, obs: np.ndarray) -> np.ndarray:
        if self.moves:
            self.count += 1
            self.mean = self.mean + (obs - self.mean) / self.count
            self.square = self.square + (obs**2 - self.square) / self.count
        scaled = (obs - self.mean) / np.sqrt(np.maximum(self.square - self.mean**2, 1e-2))
        return np.asarray(np.tanh(0.5 * scaled) if self.bent else scaled, dtype=np.float32)

    def __call__(self, net: nn.Module) -> None:
        obs, _ = self.env.reset(seed=5)
        for _ in range(self.steps):
            with torch.no_grad():
                action = int(net(torch.as_tensor(self.given(obs))[None]).argmax())
            obs, _, terminated, _, _ = self.env.step(action)
            if terminated:
                obs, _ = self.env.reset()


def seen(**exam):
    return watched(lambda: learn(evaluate=Exam(**exam), steps=60))[1]


def test_fires_where_the_evaluation_updates_them():
    found = fires(rule, seen(moves=True))
    assert found.component == "normalisation"


def test_fires_where_the_wrapper_is_told_to():
    found = fires(rule, wild.seen("normalised_env", "evaluation-env-updates")[1])
    assert "is told to update" in found.seen


def test_quiet_where_the_wrapper_is_told_not_to():
    assert not [*rule._told_to(wild.seen("normalised_env")[1])]


def test_quiet_where_they_stand_still():
    quiet(rule, seen())


def test_quiet_where_observations_are_bent():
    quiet(rule, seen(bent=True))


def test_not_enough_steps():
    assert "steps" in not_enough(rule, seen(steps=12))
