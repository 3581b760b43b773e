import numpy as np
import pytest
import torch

from rldebug.integrations.sb3_target import LEAST_REMAINING, adapt, is_model, target
from rldebug.probe import climb_ladder
from rldebug.probe_target import resolve, try_out
from rldebug.probes.agent import Factory, batch
from rldebug.probes.shelf import find, probes
from rldebug.target import TargetError

sb3 = pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 is in the extra `sb3`, which is not installed")
contrib = pytest.importorskip("sb3_contrib", reason="sb3-contrib is in the extra `sb3`, which is not installed")

SIX = ("PPO", "A2C", "DQN", "SAC", "TD3", "DDPG")
NUMBERS = ("SAC", "TD3", "DDPG", "TQC")
pytestmark = pytest.mark.filterwarnings("ignore")  # of the library's own: what it warns of is not ours


def factory(name, algorithm, **more):
    kind = find(name)
    action = "continuous" if algorithm in NUMBERS or kind.range is not None else "discrete"
    return Factory(kind(), action=action, **more)


def asked(learner, what, made):
    answer = getattr(learner, what)(batch(made.sample, np.random.default_rng(0), 3))
    return np.asarray(answer.detach() if isinstance(answer, torch.Tensor) else answer)


@pytest.mark.parametrize("algorithm", [*SIX, "TRPO", "QRDQN", "TQC", "MaskablePPO", "RecurrentPPO"])
def test_it_learns_in_portions_and_answers(algorithm):
    made = factory("observed-action-reward", algorithm)
    learner = target(algorithm, {"learning_starts": 10} if algorithm in ("DQN", "SAC") else None).make(
        made, 0, frozenset()
    )
    learner.learn(40)
    first = len(made.log)
    learner.learn(40)
    assert len(made.log) > first >= 40
    rows = 2 * 3
    if learner.q is not None:
        assert asked(learner, "q", made).shape == (rows, 2)
    if learner.value is not None:
        assert asked(learner, "value", made).size == rows
    if learner.bonus is not None:
        assert asked(learner, "bonus", made).size == rows
    if learner.policy is not None:
        assert len(asked(learner, "policy", made)) == rows
    assert (learner.q or learner.value) or algorithm == "RecurrentPPO"
    learner.close()


@pytest.mark.parametrize(
    ("algorithm", "expected"),
    [
        ("PPO", {"gamma": 0.99, "lam": 0.95, "rollout": 2048}),
        ("A2C", {"gamma": 0.99, "lam": 1.0, "rollout": 5}),
        ("DQN", {"gamma": 0.99, "n_step": 1}),
        ("TD3", {"gamma": 0.99, "n_step": 1}),
    ],
)
def test_what_it_declares_at_its_defaults(algorithm, expected):
    made = target(algorithm, defaults=True).make(factory("constant-reward", algorithm), 0, frozenset())
    assert made.declared == expected


def test_policies_are_probabilities_where_there_are_choices_and_lie_in_the_range_else():
    made = factory("observed-action-reward", "PPO")
    told = asked(target("PPO").make(made, 0, frozenset()), "policy", made)
    np.testing.assert_allclose(told.sum(axis=1), 1.0, atol=1e-5)
    wide = factory("squashed-range", "SAC")
    low, high = find("squashed-range").range
    for algorithm in ("PPO", "SAC", "TD3"):
        numbers = asked(target(algorithm).make(wide, 0, frozenset()), "policy", wide)
        assert numbers.min() >= low
        assert numbers.max() <= high


@pytest.mark.parametrize("probe", ["dict-observation", "bright-pixel", "channel-order", "multi-discrete-action"])
def test_the_policy_fits_what_is_seen(probe):
    made = Factory(find(probe)(), obs=find(probe).obs, action=find(probe).action)
    learner = target("PPO", {"n_steps": 8, "n_envs": 1, "batch_size": 8}).make(made, 0, frozenset())
    learner.learn(8)
    assert len(asked(learner, "policy", made)) == 3 * len(made.probe.looks)


def test_a_normaliser_stands_before_the_networks_when_they_are_asked():
    made = factory("offset-observation", "PPO", obs="offset")
    learner = target("PPO").make(made, 0, frozenset({"normaliser"}))
    learner.learn(200)
    values = asked(learner, "value", made)
    assert np.abs(values).max() < 50, "observations of thousands would have gone in as they are"


def test_schedules_run_as_in_a_long_run_and_never_out():
    seen = []

    def rate(remaining):
        seen.append(remaining)
        return 1e-3 * remaining

    made = factory("constant-reward", "PPO")
    model = sb3.PPO("MlpPolicy", made(), n_steps=64, batch_size=64, n_epochs=1, learning_rate=rate)
    learner = adapt(model)
    for _ in range(4):
        learner.learn(64)
    assert seen[-1] > 0.95, "each portion would be taken for the whole run"
    model._update_current_progress_remaining(10**9, 1)
    assert model._current_progress_remaining == LEAST_REMAINING


def test_a_model_that_a_user_makes_is_recognised_also_where_its_class_is_their_own():
    class Mine(sb3.DQN):
        pass

    def make_agent(make_env, seed):
        return Mine("MlpPolicy", make_env(), learning_starts=10, seed=seed, gamma=0.5)

    assert is_model(make_agent(factory("constant-reward", "DQN"), 0))
    assert not is_model(object())
    known = try_out(resolve(make_agent), ())
    assert known.declared == {"gamma": 0.5, "n_step": 1}
    assert known.tells_values


def test_abilities_follow_from_the_class_and_from_the_wrappers():
    from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

    assert target("MaskablePPO").abilities == {"normaliser", "frames", "masks"}
    assert target("RecurrentPPO").abilities == {"normaliser", "frames", "memory"}

    def make_agent(make_env):
        return sb3.A2C("MlpPolicy", VecNormalize(DummyVecEnv([make_env]), norm_reward=False))

    assert try_out(resolve(make_agent), ()).target.abilities == {"normaliser"}


@pytest.mark.parametrize("algorithm", ["PPO", "DQN"])
def test_the_first_rungs_are_passed(algorithm):
    ladder = climb_ladder(f"sb3:{algorithm}", probes=["delayed-reward", "observed-action-reward"])
    assert [each.outcome for each in ladder.rungs] == ["passed", "passed"], ladder


def test_a_wrong_discount_is_not_passed():
    """SB3's own PPO, told one γ and probed for another."""
    ladder = climb_ladder("sb3:PPO", probes=["delayed-reward"], settings={"gamma": 0.3}, gamma=0.99)
    assert ladder["delayed-reward"].outcome == "failed", ladder
    assert "future-ignored" not in ladder["delayed-reward"].matched


@pytest.mark.parametrize(
    ("name", "settings", "expected"),
    [
        ("PPQ", {}, "no algorithm sb3:PPQ: expected one of A2C"),
        ("PPO", {"n_step": 3}, "sb3:PPO has no setting 'n_step': did you mean n_steps?"),
    ],
    ids=["name", "setting"],
)
def test_what_does_not_exist_is_said(name, settings, expected):
    with pytest.raises(TargetError, match=expected):
        target(name, settings)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("algorithm", SIX)
def test_every_rung_that_applies_is_passed(algorithm, seed):
    ladder = climb_ladder(f"sb3:{algorithm}", seed=seed, jobs=2)
    missed = {each.name: each.reason for each in ladder.rungs if each.outcome not in ("passed", "not applicable")}
    assert not missed
    assert len(ladder.rungs) == len(probes())
