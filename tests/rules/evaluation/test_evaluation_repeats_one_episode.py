from __future__ import annotations

import torch

from rldebug.rules.evaluation.evaluation_repeats_one_episode import EvaluationRepeatsOneEpisode
from tests.judge import fires, not_enough, quiet
from tests.programs.worlds import Line, learn
from tests.watched import watched

rule = EvaluationRepeatsOneEpisode()


class Rounds:
    """Now and then five episodes, each begun with what `seed` says of its number."""

    def __init__(self, seed):
        self.seed, self.env, self.calls = seed, Line(limit=30), 0

    def __call__(self, policy):
        self.calls += 1
        for number in range(5):
            obs, _ = self.env.reset(seed=self.seed(number, self.calls))
            over = False
            while not over:
                with torch.no_grad():
                    action = int(policy(torch.as_tensor(obs)[None]).argmax())
                obs, _, ended, cut, _ = self.env.step(action)
                over = ended or cut


def test_fires_where_every_episode_has_one_seed():
    found = fires(rule, watched(lambda: learn(evaluate=Rounds(lambda number, call: 7), steps=140))[1])
    assert found.component == "evaluation"
    assert "seed 7" in found.seen


def test_quiet_where_each_has_its_own_and_evaluations_are_repeated():
    quiet(rule, watched(lambda: learn(evaluate=Rounds(lambda number, call: number), steps=140))[1])


def test_quiet_where_only_the_first_is_seeded():
    quiet(rule, watched(lambda: learn(evaluate=Rounds(lambda number, call: None if number else 7), steps=140))[1])


def test_not_enough_without_an_evaluation():
    not_enough(rule, watched(lambda: learn(steps=140))[1])
