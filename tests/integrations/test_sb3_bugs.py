"""What users of Stable-Baselines3 get wrong — environments, buffers, extractors, policies, settings — is named, and the
same program without the mistake is quiet."""

# ruff: noqa: E402 (both libraries are asked for first)

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium import spaces
from torch import nn

sb3 = pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 is in the extra `sb3`, which is not installed")

from stable_baselines3.common.buffers import ReplayBuffer, RolloutBuffer
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.noise import NormalActionNoise
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import VecNormalize

from rldebug.integrations.sb3 import RLDebugCallback

pytestmark = pytest.mark.integration


class Pushed(gym.Env):
    """A point is to be pushed to the middle, in 40 steps; it may fall off at either side."""

    def __init__(self, bug="", *, numbers=False, scale=1.0):
        self.bug, self.scale = bug, scale
        self.observation_space = spaces.Box(-np.inf, np.inf, (3,), np.float32)
        self.action_space = spaces.Box(-1, 1, (1,), np.float32) if numbers else spaces.Discrete(3)
        self.at = np.zeros(3, np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return self._now(self.np_random.uniform(-2, 2), 0.0), {}

    def step(self, action):
        force = float(action) - 1.0 if isinstance(self.action_space, spaces.Discrete) else float(action[0])
        speed = 0.8 * float(self.at[1]) / self.scale + 0.3 * force
        place = float(self.at[0]) / self.scale + speed
        self.steps += 1
        fell, late = abs(place) > 4.0, self.steps >= 40
        obs = self._now(place, speed)
        if self.bug == "time-limit-terminates":
            return obs, 1.0 - abs(place), fell or late, False, {}
        return obs, 1.0 - abs(place), fell, late and not fell, {}

    def _now(self, place, speed):
        seen = self.scale * np.array([place, speed, self.np_random.normal(0, 0.1)], np.float32)
        if self.bug == "one-array":
            self.at[:] = seen
            return self.at
        self.at = seen
        return seen.copy()


# ── their own buffers ──


class SumsOverEnds(RolloutBuffer):
    def compute_returns_and_advantage(self, last_values, dones):
        last = last_values.clone().cpu().numpy().flatten()
        gae = 0
        for step in reversed(range(self.buffer_size)):
            after = last if step == self.buffer_size - 1 else self.values[step + 1]
            delta = self.rewards[step] + self.gamma * after - self.values[step]
            gae = delta + self.gamma * self.gae_lambda * gae
            self.advantages[step] = gae
        self.returns = self.advantages + self.values


class ReturnsAreAdvantages(RolloutBuffer):
    def compute_returns_and_advantage(self, last_values, dones):
        super().compute_returns_and_advantage(last_values, dones)
        self.returns = self.advantages.copy()


class ForgetsEnds(ReplayBuffer):
    def add(self, obs, next_obs, action, reward, done, infos):
        super().add(obs, next_obs, action, reward, np.zeros_like(done), infos)


class StoresObsTwice(ReplayBuffer):
    def add(self, obs, next_obs, action, reward, done, infos):
        super().add(obs, obs, action, reward, done, infos)


# ── their own networks ──


class Extractor(BaseFeaturesExtractor):
    def __init__(self, observation_space, bug=""):
        super().__init__(observation_space, 16)
        self.bug = bug
        layers = [nn.Linear(observation_space.shape[0], 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU()]
        self.layers = layers if bug == "plain-list" else nn.ModuleList(layers)

    def forward(self, obs):
        with torch.set_grad_enabled(torch.is_grad_enabled() and self.bug != "no-grad"):
            for each in self.layers:
                obs = each(obs)
        return obs


class LateHead(ActorCriticPolicy):
    """The optimizer is made in the constructor of the parent, and holds the value network that was there then."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.value_net = nn.Sequential(nn.Linear(self.mlp_extractor.latent_dim_vf, 32), nn.Tanh(), nn.Linear(32, 1))


def extractor(bug=""):
    return {"policy_kwargs": {"features_extractor_class": Extractor, "features_extractor_kwargs": {"bug": bug}}}


# ── how they are trained ──


def pushed(lanes=4, normalised=False, **settings):
    envs = make_vec_env(lambda: Pushed(**settings), n_envs=lanes, seed=0)
    return VecNormalize(envs) if normalised else envs


def learned(model, steps, **more):
    watch = RLDebugCallback(quiet=True, overhead_budget=1.0)
    model.learn(steps, callback=watch, **more)
    return watch.report


def ppo(policy="MlpPolicy", envs=None, steps=3000, **settings):
    given = {"n_steps": 64, "batch_size": 64, "n_epochs": 4, "seed": 0, "device": "cpu", **settings}
    return learned(sb3.PPO(policy, envs or pushed(), **given), steps)


def dqn(envs=None, steps=1600, **settings):
    given = {"learning_starts": 200, "target_update_interval": 200, "buffer_size": 5000, "seed": 0, "device": "cpu"}
    return learned(sb3.DQN("MlpPolicy", envs or pushed(1), **{**given, **settings}), steps)


def actor_critic(kind, envs=None, steps=600, **settings):
    small = {"policy_kwargs": {"net_arch": [32, 32]}, "seed": 0, "device": "cpu"}
    given = {"learning_starts": 200, "batch_size": 64, "buffer_size": 5000, **small, **settings}
    return learned(getattr(sb3, kind)("MlpPolicy", envs or pushed(1, numbers=True), **given), steps)


def evaluated(bug=""):
    """Trained on normalised observations; scored in an environment of its own."""
    with RLDebugCallback(quiet=True, overhead_budget=1.0) as watch:
        model = sb3.PPO("MlpPolicy", pushed(normalised=True), n_steps=64, batch_size=64, seed=0, device="cpu")
        model.learn(2000, callback=watch)
        env = pushed(1)
        if bug != "bare":
            env = VecNormalize(env, training=False, norm_reward=False)
        if not bug:
            env.obs_rms = model.get_vec_normalize_env().obs_rms
        evaluate_policy(model, env, n_eval_episodes=5)
    return watch.report


def noise():
    return NormalActionNoise(np.zeros(1), np.full(1, 0.1))


BUGS = {
    "GAE sums over ends": (lambda: ppo(rollout_buffer_class=SumsOverEnds), "DIS300", "discounting"),
    "returns are advantages": (lambda: ppo(rollout_buffer_class=ReturnsAreAdvantages), "VAL368", "value-loss"),
    "a time limit terminates": (lambda: ppo(envs=pushed(bug="time-limit-terminates")), "ENV351", "environment"),
    "one array is handed out": (lambda: ppo(envs=pushed(bug="one-array")), "ENV352", "environment"),
    "an extractor without a graph": (lambda: ppo(**extractor("no-grad")), "GRA303", "autograd-graph"),
    "evaluated without normalising": (lambda: evaluated("bare"), "NRM362", "normalisation"),
    "evaluated by new statistics": (lambda: evaluated("anew"), "NRM362", "normalisation"),
    "layers in a plain list": (lambda: ppo(**extractor("plain-list")), "NET305", "network"),
    "a head made after the optimizer": (lambda: ppo(LateHead), "OPT306", "optimizer"),
    "ends forgotten, DQN": (lambda: dqn(replay_buffer_class=ForgetsEnds), "DIS300", "discounting"),
    "ends forgotten, SAC": (lambda: actor_critic("SAC", replay_buffer_class=ForgetsEnds), "DIS300", "discounting"),
    "the next observation is the same": (lambda: dqn(replay_buffer_class=StoresObsTwice), "BUF302", "buffer"),
    "the target is copied at each update": (lambda: dqn(target_update_interval=1), "TGT302", "target-network"),
    "TD3 without noise": (lambda: actor_critic("TD3"), "EXP370", "exploration"),
}

HEALTHY = {
    "PPO": ppo,
    "PPO, normalised": lambda: ppo(envs=pushed(normalised=True)),
    "PPO, extractor": lambda: ppo(**extractor()),
    "PPO, evaluated": evaluated,
    "DQN": dqn,
    "DQN, extractor": lambda: dqn(**extractor()),
    "SAC": lambda: actor_critic("SAC"),
    "SAC, normalised": lambda: actor_critic("SAC", pushed(1, numbers=True, normalised=True)),
    "TD3": lambda: actor_critic("TD3", action_noise=noise()),
}


@pytest.mark.parametrize("bug", BUGS)
def test_names_what_users_get_wrong(bug):
    run, code, component = BUGS[bug]
    report = run()
    assert code in {each.code for each in report.roots}, report.findings
    assert report.suspects[0].component == component, report.suspects


@pytest.mark.parametrize("program", HEALTHY)
def test_quiet_about_the_same_programs_without_the_mistake(program):
    report = HEALTHY[program]()
    assert [(each.code, each.message) for each in report.findings if each.severity != "note"] == []
    assert not report.broken
