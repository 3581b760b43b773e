"""RLDebugCallback: what `learn` does is watched from within it, and nothing changes by it."""

# ruff: noqa: E402 (both libraries are asked for first)

import json
import subprocess
import sys
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
import torch

sb3 = pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 is in the extra `sb3`, which is not installed")
contrib = pytest.importorskip("sb3_contrib", reason="sb3-contrib is in the extra `sb3`, which is not installed")

from stable_baselines3.common.callbacks import BaseCallback, CallbackList
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.noise import NormalActionNoise
from stable_baselines3.common.vec_env import VecNormalize

import rldebug
from rldebug.attach import Attached
from rldebug.capture import session as sessions
from rldebug.evidence.run import read_run
from rldebug.integrations.sb3 import RLDebugCallback, settings_of
from tests.integrations import pages

pytestmark = pytest.mark.integration

NUMBERS = ("SAC", "TD3", "DDPG", "TQC", "CrossQ", "ARS")
ON_POLICY = ("PPO", "A2C", "TRPO", "RecurrentPPO", "MaskablePPO")
OFF_POLICY = ("DQN", "QRDQN", "SAC", "TD3", "DDPG", "TQC", "CrossQ")


class Masked(gym.Wrapper):
    def action_masks(self):
        return np.ones(self.env.action_space.n, dtype=bool)


def made(algorithm, policy="", env=None, **settings):
    """One of each, small; 200 steps and more are enough for some updates."""
    kind = getattr(sb3, algorithm, None) or getattr(contrib, algorithm)
    if env is None:
        name = "Pendulum-v1" if algorithm in NUMBERS else "CartPole-v1"
        env = Masked(gym.make(name)) if algorithm == "MaskablePPO" else gym.make(name)
    given = {"seed": 0, "device": "cpu"}
    if algorithm in OFF_POLICY:
        given |= {"learning_starts": 64, "batch_size": 32, "buffer_size": 2000}
    elif algorithm == "ARS":
        given |= {"n_delta": 2}
    else:
        given |= {"n_steps": 32} | ({"batch_size": 32} if algorithm != "A2C" else {})
    if algorithm in ("TD3", "DDPG"):
        given["action_noise"] = NormalActionNoise(np.zeros(1), np.full(1, 0.2))
    return kind(policy or ("MlpLstmPolicy" if algorithm == "RecurrentPPO" else "MlpPolicy"), env, **given | settings)


def weights(model):
    return torch.cat([each.detach().flatten() for each in model.policy.parameters()])


def loud(report):
    return [(each.code, each.message, each.seen) for each in report.findings if each.severity != "note"]


def test_the_example_of_the_page_runs(capsys):
    scope = pages.run("sb3")
    assert loud(scope["watch"].report) == []
    assert "program:  ppo" in capsys.readouterr().err
    assert (Path(".rldebug/runs/cartpole") / "run.json").exists()


@pytest.mark.parametrize("algorithm", [*ON_POLICY, *OFF_POLICY])
def test_every_algorithm_is_watched_and_its_buffer_handed_over(algorithm):
    watch = RLDebugCallback(quiet=True, overhead_budget=1.0)
    model = made(algorithm).learn(300, callback=watch)
    meta = json.loads((Path(".rldebug/runs") / algorithm.lower() / "run.json").read_text())
    assert meta["declared"]["algorithm"] == algorithm
    assert meta["declared"]["gamma"] == model.gamma
    assert meta["state"] == "finished"
    assert meta["updates"] > 0
    assert meta["broken"] == {}
    run = read_run(Path(".rldebug/runs") / algorithm.lower())
    assert len(run["rollout/logp_max" if algorithm in ON_POLICY else "replay/reward_mean"]) > 0
    assert watch.report.broken == {}
    assert [each.code for each in watch.report.findings if each.severity == "error"] == []


@pytest.mark.parametrize("algorithm", ["PPO", "RecurrentPPO", "DQN", "SAC"])
def test_changes_nothing(algorithm):
    alone = made(algorithm).learn(300)
    drawn = np.random.random(), torch.rand(1)
    seen = made(algorithm).learn(300, callback=RLDebugCallback(quiet=True, overhead_budget=1.0))
    assert torch.equal(weights(alone), weights(seen))
    assert (np.random.random(), torch.rand(1)) == drawn
    assert sessions.current() is None


def test_changes_nothing_of_normalised_environments():
    def learned(**more):
        model = made("SAC", env=VecNormalize(make_vec_env("Pendulum-v1", 2, seed=0))).learn(300, **more)
        return weights(model), model.get_vec_normalize_env().obs_rms.mean

    alone, mean = learned()
    seen, other = learned(callback=RLDebugCallback(quiet=True, overhead_budget=1.0))
    assert torch.equal(alone, seen)
    np.testing.assert_array_equal(mean, other)


def test_what_is_handed_over_is_what_the_environment_gave(monkeypatch):
    """Rewards without the value that the library adds where an episode is cut off; ends apart from cuts."""
    handed = []
    monkeypatch.setattr(Attached, "rollout", lambda self, **given: handed.append(given))
    env = gym.make("CartPole-v1", max_episode_steps=12)
    made("PPO", env=env).learn(96, callback=RLDebugCallback(quiet=True))
    assert {name: each.shape for name, each in handed[0].items()} == {
        "obs": (32, 1, 4), "action": (32, 1), "value": (32, 1), "logp": (32, 1),
        "reward": (32, 1), "terminated": (32, 1), "truncated": (32, 1),
    }  # fmt: skip
    cut = np.concatenate([each["truncated"] for each in handed])
    ended = np.concatenate([each["terminated"] for each in handed])
    assert (cut & ~ended).sum() > 2
    assert set(np.concatenate([each["reward"] for each in handed]).ravel()) == {1.0}


def test_dictionaries_and_images_are_watched_too():
    class Parts(gym.ObservationWrapper):
        def __init__(self, env):
            super().__init__(env)
            half = gym.spaces.Box(-np.inf, np.inf, (2,), np.float32)
            self.observation_space = gym.spaces.Dict({"place": half, "speed": half})

        def observation(self, obs):
            return {"place": obs[::2], "speed": obs[1::2]}

    for algorithm in ("PPO", "DQN"):
        watch = RLDebugCallback(quiet=True)
        made(algorithm, "MultiInputPolicy", Parts(gym.make("CartPole-v1"))).learn(200, callback=watch)
        assert loud(watch.report) == []
        assert watch.report.broken == {}


def test_joins_a_list_and_an_attach_and_can_be_used_again(capsys):
    class Counts(BaseCallback):
        def _on_step(self):
            return True

    watch, count = RLDebugCallback(quiet=True), Counts()
    model = made("PPO")
    model.learn(64, callback=CallbackList([watch, count]))
    first = watch.report
    assert count.n_calls == watch.n_calls == 64
    model.learn(64, callback=[count, watch], reset_num_timesteps=False)
    assert watch.report is not first
    assert sorted(each.name for each in Path(".rldebug/runs").iterdir()) == ["ppo", "ppo-2"]
    with rldebug.attach(run="outer", quiet=True) as dbg:
        model.learn(64, callback=RLDebugCallback())
        assert sessions.current() is not None
    assert json.loads((dbg.path / "run.json").read_text())["declared"]["algorithm"] == "PPO"
    assert sorted(each.name for each in Path(".rldebug/runs").iterdir()) == ["outer", "ppo", "ppo-2"]
    assert capsys.readouterr().err == ""


def test_a_block_sees_what_is_raised_and_what_is_evaluated():
    class Breaks(BaseCallback):
        def _on_step(self):
            raise RuntimeError("broken on purpose")

    watch = RLDebugCallback("block", quiet=True)
    with pytest.raises(RuntimeError, match="on purpose"), watch:
        made("PPO").learn(64, callback=[watch, Breaks()])
    assert json.loads((Path(".rldebug/runs/block") / "run.json").read_text())["state"] == "crashed"
    with watch:
        model = made("PPO").learn(64, callback=watch)
        before = watch.dbg.env_steps
        evaluate_policy(model, model.get_env(), n_eval_episodes=2, warn=False)
        assert watch.dbg.env_steps > before
    assert watch.dbg is None


def test_what_a_learn_that_raised_left_behind_is_ended_by_the_next():
    class Breaks(BaseCallback):
        def _on_step(self):
            raise RuntimeError("broken on purpose")

    left = RLDebugCallback("left", quiet=True)
    with pytest.raises(RuntimeError, match="on purpose"):
        made("PPO").learn(64, callback=[left, Breaks()])
    assert sessions.current() is not None
    watch = RLDebugCallback("next", quiet=True)
    made("PPO").learn(64, callback=watch)
    assert left.report is not None
    assert watch.report is not None
    assert json.loads((Path(".rldebug/runs/next") / "run.json").read_text())["updates"] > 0
    assert sessions.current() is None


def test_never_the_cause_of_a_crash(monkeypatch):
    monkeypatch.setattr(Attached, "rollout", lambda self, **given: 1 / 0)
    watch = RLDebugCallback(quiet=True)
    model = made("PPO").learn(96, callback=watch)
    assert model.num_timesteps == 96
    assert "ZeroDivisionError" in watch.report.broken["capture/integrations/sb3"]


def test_what_ars_does_not_show_is_said_once(capsys):
    watch = RLDebugCallback()
    made("ARS").learn(400, callback=watch)
    said = capsys.readouterr().err
    assert said.count("ARS keeps no rollouts and learns without gradients") == 1
    assert loud(watch.report) == []


def test_settings_are_those_the_model_was_made_with():
    env = VecNormalize(make_vec_env("CartPole-v1", 3), gamma=0.9)
    told = settings_of(sb3.PPO("MlpPolicy", env, gamma=0.95, clip_range=0.1, n_steps=16, batch_size=48, device="cpu"))
    expected = {
        "algorithm": "PPO", "library": "stable_baselines3", "policy": "ActorCriticPolicy", "n_envs": 3, "gamma": 0.95,
        "gae_lambda": 0.95, "clip_range": 0.1, "n_steps": 16, "batch_size": 48, "learning_rate": 0.0003,
    }  # fmt: skip
    assert {name: told[name] for name in expected} == expected
    assert told["vec_normalize"]["gamma"] == 0.9
    dqn = settings_of(sb3.DQN("MlpPolicy", gym.make("CartPole-v1"), device="cpu"))
    assert (dqn["target_update_interval"], dqn["tau"], dqn["train_freq"]) == (10000, 1.0, 4)

    asked = []
    model = made("A2C", learning_rate=lambda remaining: asked.append(remaining) or 1e-3)
    asked.clear()
    assert "learning_rate" not in settings_of(model)
    assert asked == [], "a schedule of the user's is not called"
    assert json.dumps(dqn)


def test_says_what_to_install_where_the_library_is_missing():
    code = (
        "import sys; sys.modules['stable_baselines3'] = None\n"
        "try:\n    import rldebug.integrations.sb3\n"
        "except ImportError as error:\n    print(error)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "needs stable-baselines3" in told
    assert "pip install 'rldebug[sb3]'" in told
