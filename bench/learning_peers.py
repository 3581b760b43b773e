"""Stable-Baselines3 and sb3-contrib for `learning.py`: our settings, in their words."""

from __future__ import annotations

import time
from typing import Any

import gymnasium as gym
import torch
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import VecNormalize

from rldebug.parts.make import maker
from rldebug.settings import choose
from rldebug.train import find, presets


def train(algorithm: str, env_id: str, steps: int, seed: int, episodes: int) -> dict[str, Any]:
    settings = choose(find(algorithm).Settings, presets(algorithm).get(env_id, {}))
    make = maker(env_id)
    envs: Any = make_vec_env(make, settings.envs, seed=seed)
    evaluation: Any = make_vec_env(make, 1, seed=seed + 1_000_000)
    scaled = getattr(settings, "scale_reward", False)
    if getattr(settings, "normalise_obs", False) or scaled:
        obs = getattr(settings, "normalise_obs", False)
        envs = VecNormalize(envs, norm_obs=obs, norm_reward=scaled, clip_obs=5.0, gamma=settings.gamma)
        evaluation = VecNormalize(evaluation, norm_obs=obs, norm_reward=False, clip_obs=5.0, training=False)
    image = (
        len(gym.spaces.utils.flatten_space(envs.observation_space).shape) == 1
        and len(envs.observation_space.shape) == 3
    )
    model = MODELS[algorithm](settings, envs, seed, image)
    began = time.perf_counter()
    model.learn(steps)
    seconds = time.perf_counter() - began
    if isinstance(envs, VecNormalize):
        evaluation.obs_rms = envs.obs_rms if hasattr(envs, "obs_rms") else None
    returns, _ = evaluate_policy(
        model, evaluation, n_eval_episodes=episodes, deterministic=True, return_episode_rewards=True
    )
    return {"returns": [float(each) for each in returns], "steps_per_second": steps / seconds}


def _lr(settings: Any) -> Any:
    start = settings.lr
    return (lambda left: start * left) if getattr(settings, "anneal", False) else start


def _network(settings: Any, activation: Any = torch.nn.Tanh) -> dict[str, Any]:
    return {"net_arch": {"pi": list(settings.hidden), "vf": list(settings.hidden)}, "activation_fn": activation}


def _small_images() -> dict[str, Any]:
    """Their convolutions need 36 pixels or more; ours for smaller images, as their feature extractor."""
    from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

    from rldebug.parts.heads import Intake

    class Extractor(BaseFeaturesExtractor):
        def __init__(self, space: Any) -> None:
            intake = Intake(space, hidden=())
            super().__init__(space, intake.width)
            self.intake = intake

        def forward(self, obs: Any) -> Any:
            return self.intake(obs)

    return {"features_extractor_class": Extractor, "net_arch": [], "normalize_images": False}


def _ppo(settings: Any, envs: Any, seed: int, image: bool) -> Any:
    from stable_baselines3 import PPO

    return PPO(
        "CnnPolicy" if image else "MlpPolicy",
        envs,
        learning_rate=_lr(settings),
        n_steps=settings.steps,
        batch_size=settings.minibatch,
        n_epochs=settings.epochs,
        gamma=settings.gamma,
        gae_lambda=settings.lam,
        clip_range=settings.clip,
        ent_coef=settings.entropy_coef,
        vf_coef=settings.value_coef,
        max_grad_norm=settings.max_grad_norm,
        policy_kwargs=_small_images() if image else _network(settings),
        seed=seed,
        device="cpu",
    )


def _a2c(settings: Any, envs: Any, seed: int, image: bool) -> Any:
    from stable_baselines3 import A2C

    return A2C(
        "MlpPolicy",
        envs,
        learning_rate=_lr(settings),
        n_steps=settings.steps,
        gamma=settings.gamma,
        gae_lambda=settings.lam,
        ent_coef=settings.entropy_coef,
        vf_coef=settings.value_coef,
        max_grad_norm=settings.max_grad_norm,
        rms_prop_eps=settings.rms_eps,
        normalize_advantage=settings.normalise_advantage,
        policy_kwargs=_network(settings),
        seed=seed,
        device="cpu",
    )


def _dqn(settings: Any, envs: Any, seed: int, image: bool) -> Any:
    from stable_baselines3 import DQN

    return DQN(
        "MlpPolicy",
        envs,
        learning_rate=_lr(settings),
        buffer_size=settings.buffer,
        learning_starts=settings.learning_starts,
        batch_size=settings.batch,
        tau=settings.tau,
        gamma=settings.gamma,
        train_freq=settings.train_every,
        gradient_steps=settings.updates,
        # Theirs counts environment steps, ours gradient steps.
        target_update_interval=max(1, settings.target_every * settings.train_every // settings.updates),
        exploration_fraction=settings.epsilon_fraction,
        exploration_initial_eps=settings.epsilon_start,
        exploration_final_eps=settings.epsilon_end,
        max_grad_norm=settings.max_grad_norm,
        policy_kwargs={"net_arch": list(settings.hidden)},
        seed=seed,
        device="cpu",
    )


def _trpo(settings: Any, envs: Any, seed: int, image: bool) -> Any:
    from sb3_contrib import TRPO

    return TRPO(
        "MlpPolicy",
        envs,
        learning_rate=settings.value_lr,
        n_steps=settings.steps,
        batch_size=settings.value_minibatch,
        gamma=settings.gamma,
        cg_max_steps=settings.cg_steps,
        cg_damping=settings.damping,
        n_critic_updates=settings.value_epochs,
        gae_lambda=settings.lam,
        target_kl=settings.max_kl,
        policy_kwargs=_network(settings),
        seed=seed,
        device="cpu",
    )


def _sac(settings: Any, envs: Any, seed: int, image: bool) -> Any:
    from stable_baselines3 import SAC

    return SAC(
        "MlpPolicy",
        envs,
        learning_rate=settings.lr,
        buffer_size=settings.buffer,
        learning_starts=settings.learning_starts,
        batch_size=settings.batch,
        tau=settings.tau,
        gamma=settings.gamma,
        policy_kwargs={"net_arch": list(settings.hidden)},
        seed=seed,
        device="cpu",
    )


MODELS = {"ppo": _ppo, "a2c": _a2c, "dqn": _dqn, "trpo": _trpo, "sac": _sac}
