"""The reference algorithms on the ladder: sound ones pass, whatever the seed."""

import dataclasses

import pytest

from rldebug.probes.agent import Factory
from rldebug.probes.judge import Budget
from rldebug.probes.ladder import stand
from rldebug.probes.shelf import find, probes
from rldebug.stepwise import target

FIRST = ("constant-reward", "observed-reward", "delayed-reward", "action-reward", "observed-action-reward")
QUICK = (*FIRST, "two-step-credit", "unequal-episodes", "sparse-chain")
NUMBERS_ALONE, CHOICES_ALONE = ("sac",), ("dqn",)


def one_attempt(algorithm, kind, seed):
    """The rung with one seed: no second one to set a failure right."""
    tried = target(algorithm)
    if algorithm not in CHOICES_ALONE:
        tried = dataclasses.replace(tried, abilities=tried.abilities | {"continuous"})
    action = "continuous" if algorithm in NUMBERS_ALONE else "discrete"
    learner = tried.make(Factory(find("constant-reward")(), action=action), 0, frozenset())
    learner.close()
    budget = Budget(first_seed=seed, seeds=1)
    rung = stand(tried, kind, declared=learner.declared, action=action, budget=budget)
    return rung if not rung.attempts else rung.attempts[0]


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize("algorithm", ["ppo", "a2c", "dqn"])
def test_a_sound_algorithm_passes(algorithm, name):
    tried = one_attempt(algorithm, find(name), 0)
    assert tried.outcome == "passed", tried.reason


@pytest.mark.parametrize("name", [*FIRST[:1], "interior-optimum"])
def test_so_does_one_whose_actions_are_numbers(name):
    tried = one_attempt("sac", find(name), 0)
    assert tried.outcome == "passed", tried.reason


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", probes(), ids=lambda each: each.name)
@pytest.mark.parametrize("algorithm", ["ppo", "a2c", "vpg", "trpo", "dqn", "sac"])
def test_every_sound_algorithm_passes_every_rung_that_applies(algorithm, kind, seed):
    tried = one_attempt(algorithm, kind, seed)
    assert tried.outcome in ("passed", "not applicable"), tried.reason
