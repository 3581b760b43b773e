"""The climb: what is called a pass, a failure, or undecided, and after how much."""

import dataclasses
import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from rldebug.probes import ladder
from rldebug.probes.agent import Learner, Target, adapt
from rldebug.probes.judge import Budget, Judge, tolerance
from rldebug.probes.ladder import assemble, attempt, stand
from rldebug.probes.measure import Measured
from rldebug.probes.shelf import find
from rldebug.side_by_side import run_all
from rldebug.target import TargetError
from tests.probes.tabular import Tabular, TabularVector

FIVE = [find(f) for f in ("constant-reward", "observed-reward", "delayed-reward", "action-reward")]
FIVE.append(find("observed-action-reward"))
DECLARED = {"gamma": 0.9, "n_step": 1}


def tabular(**changes):
    return Target("tabular", lambda factory, seed, wants: adapt(Tabular(factory, seed=seed, **changes), "tabular"))


def outcomes(target, kinds, **more):
    def run(kind):
        return stand(target, kind, declared=DECLARED, action="discrete", budget=Budget())

    return {each.name: each for each in run_all(kinds, run, **more)}


# ── a learner that is obviously right, and its mistakes ──


def test_a_sound_learner_passes_the_first_five():
    assert {name: rung.outcome for name, rung in outcomes(tabular(), FIVE).items()} == {
        each.name: "passed" for each in FIVE
    }


@pytest.mark.parametrize(
    ("wrong", "first", "mistake"),
    [
        ("frozen", "constant-reward", "nothing-learned"),
        ("ends", "constant-reward", "end-ignored"),
        ("blind", "observed-reward", "same-for-all"),
        ("undiscounted", "delayed-reward", "undiscounted"),
    ],
)
def test_a_mistake_fails_at_its_rung_and_is_recognised(wrong, first, mistake):
    rungs = outcomes(tabular(wrong=wrong), FIVE)
    failed = [name for name, rung in rungs.items() if rung.outcome == "failed"]
    assert failed[0] == first
    assert mistake in rungs[first].matched
    assert len(rungs[first].attempts) == 3  # other seeds were asked


def test_rungs_that_stand_on_a_failed_one_are_not_run_unless_wanted():
    rungs = outcomes(tabular(wrong="blind"), FIVE)
    assert rungs["delayed-reward"].outcome == "not run"
    assert "observed-reward" in rungs["delayed-reward"].reason
    assert rungs["action-reward"].outcome == "passed"
    assert outcomes(tabular(wrong="blind"), FIVE, whole=True)["delayed-reward"].attempts


def test_time_that_runs_out_is_told_from_an_end():
    kind = find("truncated-episode")
    sound = stand(tabular(), kind, declared=DECLARED, action="discrete", budget=Budget())
    broken = stand(tabular(wrong="truncation"), kind, declared=DECLARED, action="discrete", budget=Budget())
    assert (sound.outcome, broken.outcome) == ("passed", "failed")
    assert broken.matched[0] == "truncation-as-end"


def test_gamma_and_lambda_are_read_off():
    kinds = [find("discount-chain"), find("aliased-fork")]
    rungs = outcomes(tabular(gamma=0.8), kinds)  # says nothing of 0.9, and uses 0.8
    told = assemble("tabular", list(rungs.values()), DECLARED, 1.0)
    assert rungs["discount-chain"].outcome == "failed"
    assert told.gamma == pytest.approx(0.8, abs=0.02)
    assert assemble("t", list(outcomes(tabular(), kinds).values()), DECLARED, 1.0).lam == pytest.approx(0.0, abs=0.15)


MODES = ("next-step-autoreset", "same-step-autoreset", "disabled-autoreset")


@pytest.mark.parametrize(
    ("wrong", "broken"),
    [("", ()), ("extra-step", MODES[:1]), ("reset-obs", MODES[1:])],
    ids=["sound", "extra-step", "reset-obs"],
)
def test_every_way_to_restart_side_by_side(wrong, broken):
    target = Target(
        "vector",
        lambda factory, seed, wants: adapt(TabularVector(factory, wrong=wrong), "vector"),
        frozenset({"vector"}),
    )
    found = {
        mode: stand(target, find(mode), declared=DECLARED, action="discrete", budget=Budget()).outcome for mode in MODES
    }
    assert found == {mode: "failed" if mode in broken else "passed" for mode in MODES}


# ── what cannot be judged ──


class Slow(torch.nn.Module):
    """Learns a constant with a real optimizer, as slowly as asked."""

    def __init__(self, factory, lr):
        super().__init__()
        self.env, self.guess = factory(), torch.nn.Parameter(torch.zeros(1))
        self.optimizer = torch.optim.SGD(self.parameters(), lr=lr)
        self.env.reset(seed=0)

    def learn(self, steps):
        for _ in range(steps):
            _, reward, *_ = self.env.step(0)
            self.env.reset()
            loss = (self.guess - reward).square().mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    def value(self, obs):
        return self.guess.expand(len(obs))


def slow(lr):
    return Target("slow", lambda factory, seed, wants: adapt(Slow(factory, lr), "slow"))


def constant(target, **budget):
    small = dataclasses.replace(Budget(steps=3200), **budget)
    return stand(target, find("constant-reward"), declared=DECLARED, action="discrete", budget=small)


def test_a_learning_rate_that_moves_nothing_is_unsuited_not_a_failure():
    rung = constant(slow(1e-8))
    assert rung.outcome == "undecided"
    assert "1e-08" in rung.reason


def test_a_learning_rate_of_zero_moves_no_weight_and_fails():
    rung = constant(slow(0.0))
    assert rung.outcome == "failed"
    assert "moved no weight" in rung.reason


def test_what_is_still_getting_nearer_is_undecided():
    rung = constant(slow(5e-5))
    assert rung.outcome == "undecided"
    assert "getting nearer" in rung.reason


def test_the_same_with_a_fitting_rate_passes():
    assert constant(slow(1e-2)).outcome == "passed"


def test_what_cannot_be_made_does_not_apply():
    def refuse(factory, seed, wants):
        raise ValueError("only images")

    rung = constant(Target("picky", refuse))
    assert rung.outcome == "not applicable"
    assert "only images" in rung.reason


def test_what_breaks_while_learning_is_a_crash_with_its_line():
    def broken(steps):
        raise ZeroDivisionError("by nothing")

    rung = constant(Target("broken", lambda factory, seed, wants: Learner(learn=broken)))
    assert rung.outcome == "crashed"
    assert "by nothing" in rung.reason
    assert "test_ladder.py" in rung.reason


def test_values_that_are_no_numbers_fail():
    def make(factory, seed, wants):
        agent = Tabular(factory)
        return Learner(learn=agent.learn, value=lambda obs: np.full(len(obs), np.nan))

    assert constant(Target("nan", make)).outcome == "failed"


def test_a_learner_that_takes_no_steps_is_refused():
    def make(factory, seed, wants):
        factory()
        return Learner(learn=lambda steps: None, value=lambda obs: np.zeros(len(obs)))

    with pytest.raises(TargetError, match="took no step"):
        constant(Target("idle", make))


def test_a_value_of_the_wrong_shape_is_refused():
    def make(factory, seed, wants):
        agent = Tabular(factory)
        return Learner(learn=agent.learn, value=lambda obs: np.zeros(3))

    with pytest.raises(TargetError, match="expected one number each"):
        constant(Target("odd", make))


def test_what_shows_no_values_is_not_asked_for_them():
    def make(factory, seed, wants):
        return Learner(learn=Tabular(factory).learn)

    rung = constant(Target("closed", make))
    assert rung.outcome == "not applicable"
    assert "value(obs)" in rung.reason


def test_a_policy_is_read_from_what_was_played_where_nothing_else_tells():
    def make(factory, seed, wants):
        return Learner(learn=Tabular(factory, epsilon=0.1, seed=seed).learn)

    target = Target("closed", make)
    rung = stand(target, find("action-reward"), declared=DECLARED, action="discrete", budget=Budget())
    assert rung.outcome == "passed"


def test_abilities_decide_what_applies():
    kind = type("Wanting", (find("constant-reward"),), {"wants": ("memory",)})
    rung = stand(tabular(), kind, declared=DECLARED, action="discrete", budget=Budget())
    assert rung.outcome == "not applicable"
    assert "memory" in rung.reason


# ── one seed is not enough ──


def test_a_failure_needs_other_seeds_to_agree(monkeypatch):
    def scripted(*said):
        turns = iter(said)

        def fake(target, probe, seed, declared, action, budget):
            return dataclasses.replace(real, seed=seed, outcome=next(turns)), None

        monkeypatch.setattr(ladder, "attempt", fake)
        return constant(tabular())

    real, _ = attempt(tabular(), find("constant-reward")(0.9), 0, DECLARED, "discrete", Budget())
    assert scripted("passed").outcome == "passed"
    assert scripted("failed", "failed", "failed").outcome == "failed"
    assert scripted("failed", "passed", "passed", "passed").outcome == "passed"
    assert scripted("undecided", "undecided").outcome == "undecided"
    assert scripted("failed", "passed", "failed", "failed").outcome == "failed"
    assert scripted("failed", "undecided", "undecided").outcome == "undecided"


# ── the judge, on curves ──


def verdict(errors, *, updates=1000, moved=0.1, steps_each=500, budget=None):
    judge = Judge(find("constant-reward")(0.9), 0.1, budget or Budget(steps=steps_each * len(errors)))
    for i, error in enumerate(errors):
        judge.add(steps_each * (i + 1), Measured(error))
    said = judge.decide(SimpleNamespace(updates=updates, moved=moved, lr=1e-3), 0.0)
    return None if said is None else said[0]


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        ([1.0, 0.5, 0.05, 0.04], "passed"),
        ([1.0, 0.5, 0.05], None),
        ([1.0] * 12, "failed"),
        ([0.1 * i for i in range(10, 60, 3)], "failed"),
        ([1.0 * 0.93**i for i in range(16)], "undecided"),
        ([1.0, 0.2] * 8, "undecided"),
    ],
    ids=["there", "once", "resting", "leaving", "on its way", "jittering"],
)
def test_the_judge_on_a_curve(errors, expected):
    budget = Budget(steps=10**6) if expected is None else None
    assert verdict(errors, budget=budget) == expected


def test_without_the_means_nothing_is_a_failure():
    assert verdict([1.0] * 12, updates=10) == "undecided"
    assert verdict([1.0] * 12, moved=1e-5) == "undecided"
    assert verdict([1.0] * 12, updates=0, moved=None) == "failed"  # no optimizer of torch's: a table


def test_no_known_mistake_is_within_the_tolerance():
    for gamma in (0.9, 0.99):
        for kind in (each for each in FIVE if each.asks == "value"):
            probe = kind(gamma)
            allowed = tolerance(probe, {"gamma": gamma})
            right = probe.solve().value
            for wrong in probe.wrong_answers().values():
                away = float(np.abs(wrong - right).max())
                assert away > 2 * allowed or away < 0.05  # the nearest are for the discount chain to tell


def test_nan_is_no_gamma():
    rungs = [dataclasses.replace(ladder.blank(find("discount-chain"), "failed", ""), attempts=())]
    assert assemble("t", rungs, {}, 0.0).gamma is None
    assert math.isnan(find("discount-chain")().effective_gamma(np.zeros(10)))


def test_what_it_learned_is_told_without_the_time_before_it_had_learned_it():
    judge = Judge(find("constant-reward")(0.9), 0.1, Budget())
    for i, value in enumerate([0.0, 0.2, 0.98, 1.0]):
        judge.add(100 * i, Measured(1.0 - value, value=np.array([value])))
    assert judge.settled("value") == pytest.approx([0.99])


def test_action_values_of_the_wrong_shape_are_refused():
    def make(factory, seed, wants):
        agent = Tabular(factory)
        return Learner(learn=agent.learn, q=lambda obs: np.zeros(len(obs)))

    with pytest.raises(TargetError, match="one per action"):
        constant(Target("flat", make))


def test_an_agent_built_blindly_for_a_picture_is_not_made_for_it():
    def broken(steps):
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    target = Target("vectors", lambda factory, seed, wants: Learner(learn=broken))
    rung = stand(target, find("bright-pixel"), declared=DECLARED, action="discrete", budget=Budget())
    assert rung.outcome == "not applicable"
    assert "shapes cannot" in rung.reason
