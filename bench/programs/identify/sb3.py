"""Algorithms of Stable-Baselines3 and sb3-contrib, with settings that are nobody's default. python sb3.py NAME"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from stable_baselines3 import A2C, DDPG, DQN, PPO, SAC, TD3
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.noise import NormalActionNoise
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import VecFrameStack, VecNormalize
from worlds import Ball

SEED = 1
PLAIN: dict[str, Any] = {"seed": SEED, "device": "cpu"}
ROLLOUT: dict[str, Any] = {"gamma": 0.97, "gae_lambda": 0.91, "n_steps": 128, "batch_size": 64, "n_epochs": 4, **PLAIN}
REPLAY: dict[str, Any] = {
    "learning_starts": 200,
    "buffer_size": 5000,
    "batch_size": 64,
    "policy_kwargs": {"net_arch": [64, 64]},
    **PLAIN,
}
SPARE: dict[str, Any] = {**REPLAY, "gamma": 0.96, "batch_size": 32, "train_freq": 4, "target_update_interval": 300}
SOFT: dict[str, Any] = {**REPLAY, "gamma": 0.95, "tau": 0.02}


class Trunk(BaseFeaturesExtractor):
    """Shared by policy and critic."""

    def __init__(self, space: gym.spaces.Box, features_dim: int = 32) -> None:
        super().__init__(space, features_dim)
        self.net = torch.nn.Sequential(torch.nn.Linear(space.shape[0], features_dim), torch.nn.Tanh())

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        return self.net(obs)


def off(algorithm: Any, env: Any, settings: dict[str, Any], **more: Any) -> Any:
    """With settings of its own: the library writes into what it is given."""
    return algorithm("MlpPolicy", env, **copy.deepcopy({**settings, **more}))


def vec(count: int, discrete: bool = False) -> Any:
    return make_vec_env(lambda: Ball(discrete), n_envs=count, seed=SEED)


def recurrent() -> Any:
    from sb3_contrib import RecurrentPPO

    small = {"lstm_hidden_size": 16, "net_arch": [16]}
    return RecurrentPPO("MlpLstmPolicy", vec(2, True), policy_kwargs=small, **ROLLOUT)


def contrib(name: str, env: Any, **settings: Any) -> Any:
    import sb3_contrib

    return off(getattr(sb3_contrib, name), env, settings)


SHARED = {"features_extractor_class": Trunk, "net_arch": []}
QUANTILES = {"net_arch": [64, 64], "n_quantiles": 20}
MAKE: dict[str, tuple[Callable[[], Any], int]] = {
    "ppo": (lambda: PPO("MlpPolicy", vec(4), **ROLLOUT), 6000),
    "ppo-norm": (lambda: PPO("MlpPolicy", VecNormalize(vec(4), gamma=0.97), **ROLLOUT), 6000),
    "ppo-frames": (lambda: PPO("MlpPolicy", VecFrameStack(vec(4, True), 3), **ROLLOUT), 6000),
    "ppo-trunk": (
        lambda: PPO("MlpPolicy", vec(2, True), policy_kwargs=SHARED, clip_range_vf=0.2, ent_coef=0.01, **ROLLOUT),
        5000,
    ),
    "a2c": (lambda: A2C("MlpPolicy", vec(4, True), gamma=0.97, gae_lambda=0.93, n_steps=8, **PLAIN), 8000),
    "a2c-norm": (
        lambda: A2C("MlpPolicy", VecNormalize(vec(4), gamma=0.97), gamma=0.97, gae_lambda=0.93, n_steps=8, **PLAIN),
        8000,
    ),
    "dqn": (lambda: off(DQN, Ball(True), SPARE), 6000),
    "dqn-n-step": (lambda: off(DQN, Ball(True), SPARE, n_steps=3), 6000),
    "dqn-frames": (lambda: off(DQN, VecFrameStack(vec(2, True), 3), SPARE), 6000),
    "sac": (lambda: off(SAC, Ball(), SOFT), 1200),
    "sac-norm": (lambda: off(SAC, VecNormalize(vec(2), gamma=0.95), SOFT, gradient_steps=-1), 1200),
    "td3": (
        lambda: off(TD3, Ball(), SOFT, action_noise=NormalActionNoise(np.zeros(2), np.full(2, 0.1))),
        1500,
    ),
    "ddpg": (lambda: off(DDPG, Ball(), SOFT, action_noise=NormalActionNoise(np.zeros(2), np.full(2, 0.1))), 1500),
    "trpo": (lambda: contrib("TRPO", vec(2), gamma=0.97, gae_lambda=0.91, n_steps=256, batch_size=64, **PLAIN), 6000),
    "recurrent-ppo": (recurrent, 2500),
    "qr-dqn": (lambda: contrib("QRDQN", Ball(True), **{**SPARE, "policy_kwargs": QUANTILES}), 6000),
}

if __name__ == "__main__":
    torch.set_num_threads(1)
    make, steps = MAKE[sys.argv[1]]
    make().learn(int(sys.argv[2]) if len(sys.argv) > 2 else steps)
