"""
Train a PPO agent with Stable-Baselines3 on the rail task (or any other task with discrete actions).

    python train_agent.py --env Rail-v0 --steps 7000 --seed 0

The agent is saved to ./agent.zip, read back, and tried out on fresh environments.
"""
import argparse
from collections import deque

import gymnasium as gym
import numpy as np
import torch as th
import torch.nn as nn
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.utils import set_random_seed

import rail  # noqa: F401  (registers Rail-v0)

th.set_num_threads(1)


class SquareFeatures(BaseFeaturesExtractor):
    """Concatenates the observation with the squares of its (bounded) entries and mixes them once."""

    def __init__(self, observation_space: gym.spaces.Box, features_dim: int = 32):
        super().__init__(observation_space, features_dim)
        n_in = int(np.prod(observation_space.shape))
        self.mix = nn.Sequential(nn.Linear(2 * n_in, features_dim), nn.Tanh())

    def forward(self, observations: th.Tensor) -> th.Tensor:
        x = observations.flatten(1)
        return self.mix(th.cat([x, th.tanh(x) ** 2], dim=1))


def linear_schedule(initial_value: float, final_value: float = 0.0):
    """Schedule for SB3: progress_remaining goes from 1 (start) to 0 (end)."""

    def value(progress_remaining: float) -> float:
        return final_value + progress_remaining * (initial_value - final_value)

    return value


class ClipObservation(gym.ObservationWrapper):
    """Keeps the observation in a sane range; velocities can be unbounded."""

    def __init__(self, env: gym.Env, limit: float = 5.0):
        super().__init__(env)
        self.limit = limit
        low = np.maximum(env.observation_space.low, -limit)
        high = np.minimum(env.observation_space.high, limit)
        self.observation_space = gym.spaces.Box(low, high, dtype=np.float32)

    def observation(self, observation):
        return np.clip(observation, -self.limit, self.limit).astype(np.float32)


class TrainingReport(BaseCallback):
    """Collects episode returns and prints a line now and then."""

    def __init__(self, print_every: int, window: int = 40):
        super().__init__()
        self.print_every = print_every
        self.returns = deque(maxlen=window)
        self.lengths = deque(maxlen=window)
        self.n_episodes = 0
        self.next_print = print_every
        self.best_window = -np.inf

    def _on_step(self) -> bool:
        for info in self.locals["infos"]:
            episode = info.get("episode")
            if episode is not None:
                self.returns.append(episode["r"])
                self.lengths.append(episode["l"])
                self.n_episodes += 1
        if len(self.returns) == self.returns.maxlen:
            self.best_window = max(self.best_window, float(np.mean(self.returns)))
        return True

    def _on_rollout_end(self) -> None:
        if self.num_timesteps < self.next_print or not self.returns:
            return
        self.next_print += self.print_every
        ev = self.model.logger.name_to_value.get("train/explained_variance", float("nan"))
        print(
            f"{self.num_timesteps:7d} steps  {self.n_episodes:5d} episodes  "
            f"return {np.mean(self.returns):7.2f} +- {np.std(self.returns):6.2f}  "
            f"length {np.mean(self.lengths):6.1f}  explained variance {ev:5.2f}"
        )


def build_model(venv, args) -> PPO:
    policy_kwargs = dict(
        features_extractor_class=SquareFeatures,
        features_extractor_kwargs=dict(features_dim=32),
        net_arch=dict(pi=[32], vf=[32]),
        activation_fn=nn.Tanh,
    )
    return PPO(
        "MlpPolicy",
        venv,
        n_steps=args.n_steps,
        batch_size=128,
        n_epochs=8,
        learning_rate=linear_schedule(3e-3, 5e-4),
        gamma=0.98,
        gae_lambda=0.9,
        clip_range=linear_schedule(0.2, 0.05),
        ent_coef=0.001,
        vf_coef=0.5,
        max_grad_norm=0.5,
        policy_kwargs=policy_kwargs,
        seed=args.seed,
        device="cpu",
    )


def watch(model: PPO, env_id: str, seed: int, episodes: int) -> float:
    """Plays a few episodes by hand, one environment, greedy actions."""
    env = ClipObservation(gym.make(env_id))
    totals = []
    for k in range(episodes):
        obs, _ = env.reset(seed=seed + k)
        over, total = False, 0.0
        while not over:
            action, _ = model.predict(obs, deterministic=True)
            obs, reward, terminated, truncated, _ = env.step(action)
            over = terminated or truncated
            total += float(reward)
        totals.append(total)
    env.close()
    return float(np.mean(totals))


def parse_args():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--env", default="Rail-v0")
    p.add_argument("--steps", type=int, default=7_000)
    p.add_argument("--n-envs", type=int, default=8)
    p.add_argument("--n-steps", type=int, default=64)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--eval-episodes", type=int, default=12)
    return p.parse_args()


def main():
    args = parse_args()
    set_random_seed(args.seed)

    venv = make_vec_env(args.env, n_envs=args.n_envs, seed=args.seed, wrapper_class=ClipObservation)
    model = build_model(venv, args)
    report = TrainingReport(print_every=args.steps // 6)
    model.learn(total_timesteps=args.steps, callback=report)
    print(f"best {report.returns.maxlen}-episode average during training: {report.best_window:.2f}")

    model.save("agent")
    venv.close()

    agent = PPO.load("agent", device="cpu")
    test_env = make_vec_env(args.env, n_envs=6, seed=args.seed + 10_000, wrapper_class=ClipObservation)
    mean, std = evaluate_policy(agent, test_env, n_eval_episodes=args.eval_episodes, deterministic=True)
    test_env.close()
    by_hand = watch(agent, args.env, seed=args.seed + 20_000, episodes=2)
    print(f"two episodes played by hand: {by_hand:.1f}")
    print(f"test return over {args.eval_episodes} episodes: {mean:.2f} (std {std:.2f})")


if __name__ == "__main__":
    main()
