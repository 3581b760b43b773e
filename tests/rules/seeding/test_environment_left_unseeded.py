"""Libraries are seeded, the environment is not."""

from __future__ import annotations

import numpy as np
import torch

from rldebug.rules.seeding.environment_left_unseeded import EnvironmentLeftUnseeded
from tests.judge import fires, not_enough, quiet
from tests.programs.formula_learners import rollouts
from tests.programs.gaussian_learners import learn
from tests.watched import watched

rule = EnvironmentLeftUnseeded()


def test_fires_where_no_reset_had_a_seed() -> None:
    assert "numpy and torch" in fires(rule, watched(lambda: learn(seed=None))[1]).seen


def test_quiet_where_the_first_reset_had_one() -> None:
    quiet(rule, watched(learn)[1])


def test_quiet_where_an_environment_that_comes_later_has_none() -> None:
    def program() -> None:
        learn()
        learn(seed=None)

    quiet(rule, watched(program)[1])


def test_quiet_where_the_environment_has_a_generator_that_it_was_made_with() -> None:
    def program() -> None:
        np.random.seed(0)
        rollouts()

    quiet(rule, watched(program)[1])


def test_declines_where_torch_alone_is_seeded() -> None:
    def program() -> None:
        torch.manual_seed(0)
        rollouts()

    not_enough(rule, watched(program)[1])
