"""python train.py --seed 3"""
from __future__ import annotations

import argparse
import dataclasses

import numpy as np
import torch
from gymnasium.vector import SyncVectorEnv

from callbacks import BestModelKeeper, CallbackList, ProgressPrinter
from policy import ActorCritic
from trainer import A2CConfig, A2CTrainer
from warehouse import make_warehouse


class Evaluator:
    """Greedy episodes on an environment of its own."""

    def __init__(self, seed: int):
        self.env = make_warehouse()
        self.env.reset(seed=seed)

    def __call__(self, model: ActorCritic, episodes: int) -> float:
        totals = []
        for _ in range(episodes):
            obs, _ = self.env.reset()
            total, over = 0.0, False
            while not over:
                obs, reward, terminated, truncated, _ = self.env.step(model.act_greedily(obs).numpy())
                total += float(reward)
                over = terminated or truncated
            totals.append(total)
        return float(np.mean(totals))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--updates", type=int, default=A2CConfig.updates)
    options = parser.parse_args()
    config = dataclasses.replace(A2CConfig(), seed=options.seed, updates=options.updates)

    torch.set_num_threads(1)
    torch.manual_seed(config.seed)
    envs = SyncVectorEnv([make_warehouse] * config.num_envs)
    model = ActorCritic(envs.single_observation_space.shape[0], axes=2, options=3)
    keeper = BestModelKeeper(Evaluator(seed=config.seed + 1000), every=40, episodes=20)
    trainer = A2CTrainer(envs, model, config, CallbackList(ProgressPrinter(every=40), keeper))
    trainer.fit()

    score = Evaluator(seed=config.seed + 2000)(model, 60)
    print(f"best score seen while training {keeper.best_score:.3f}")
    print(f"greedy return over 60 fresh episodes {score:.3f}")


if __name__ == "__main__":
    main()
