import numpy as np
import pytest

from rldebug.evidence.script import Event
from rldebug.forensics.roles import Roles
from rldebug.forensics.unasked import Unasked
from rldebug.rules.evaluation import evaluation_explores
from rldebug.rules.evaluation.evaluation_explores import EvaluationExplores
from tests.judge import fires, not_enough, quiet
from tests.programs.worlds import Evaluation, learn, script
from tests.watched import watched

rule = EvaluationExplores()


def seen(**evaluation):
    return watched(lambda: learn(evaluate=Evaluation(steps=24, **evaluation), steps=120), overhead_budget=9.0)[1]


def test_fires_where_random_actions_are_played():
    found = fires(rule, seen(epsilon=0.8))
    assert found.component == "evaluation"
    assert "highest value" in found.seen


def test_quiet_where_the_best_action_is_played():
    quiet(rule, seen())


def test_quiet_where_the_best_allowed_action_is_played():
    rng = np.random.default_rng(0)
    said = rng.normal(size=(400, 6))
    allowed = np.where(rng.random(said.shape) < 0.7, said, -np.inf)
    assert not rule._not_best(said, allowed.argmax(axis=1)[:, None].astype(float))
    assert rule._not_best(said, rng.integers(0, 6, (400, 1)).astype(float))


def test_quiet_where_actions_have_other_numbers_or_costs_are_learned():
    rng = np.random.default_rng(0)
    said = rng.normal(size=(400, 3))
    greedy = said.argmax(axis=1)
    assert not rule._not_best(said, np.array([0, 2, 1])[greedy][:, None].astype(float))
    assert not rule._not_best(said, said.argmin(axis=1)[:, None].astype(float))


@pytest.mark.parametrize(("noise", "base", "said"), [(0.3, 0.0, True), (0.0, 0.0, False), (0.0, 0.8, False)])
def test_fires_on_noise_and_not_on_what_is_added_on_purpose(monkeypatch, noise, base, said):
    monkeypatch.setattr(evaluation_explores, "roles_of", lambda script: Roles(policy=frozenset({"actor"})))
    monkeypatch.setattr(evaluation_explores, "_stochastic", lambda script, module: False)
    rng = np.random.default_rng(0)
    obs = rng.normal(size=(200, 3))
    output = np.tanh(obs @ rng.normal(size=(3, 1)))
    action = np.clip(2 * output + noise * rng.normal(size=output.shape) + base * obs[:, 1:2], -2.5, 2.5)
    assert bool(rule._noisy(script(), "actor", output, action, obs)) == said


def test_not_enough_without_an_evaluation():
    assert "evaluation" in not_enough(rule, watched(lambda: learn(steps=40))[1])


def test_fires_where_no_network_is_asked_in_some_steps(monkeypatch):
    for unasked, said in ((40, True), (3, False)):
        told = Unasked(100, unasked, Event(0, "call", 7, 0, {}), 7)
        monkeypatch.setattr(evaluation_explores, "unasked", lambda script, told=told: told)
        found = list(rule.check(script())) if said else []
        assert rule._by_chance(unasked, 100) == said
        assert bool(found) == said
