"""Environment steps per second of whole training runs, beside Stable-Baselines3, Tianshou, TorchRL and plain scripts.

    python bench/throughput.py [--rounds N] [--steps N] [--only ppo|ppo-1|a2c|dqn|atari-ppo|atari-dqn]

The same hyperparameters for all, one thread each, one process, in turn, so that a slow moment of the machine hits them
all; CPU time of the process, so that other programs do not count. The first round warms up and is left out. The plain
scripts are in `plain_scripts.py`, Tianshou's and TorchRL's loops in `throughput_peers.py`. On Atari the clock starts at
the first step: a game takes a quarter of a second to load and start, as long as some hundred steps.

The bars: PPO on CartPole at least 1.7 times Stable-Baselines3, DQN and A2C 1.5 times; each at least twice a plain
script, on Atari too. Exits 1 when one is missed. Against Tianshou and TorchRL there is no bar.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import gymnasium as gym
import plain_scripts
import throughput_peers
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from rldebug.parts.make import EnvError, maker
from rldebug.settings import choose
from rldebug.train import find
from rldebug.training import Training

Contender = Callable[[int], None]  # trains for so many environment steps
CARTPOLE, PONG = "CartPole-v1", "ALE/Pong-v5"


@dataclass(frozen=True)
class Task:
    title: str
    steps: int
    unit: int  # steps are a multiple of this: ours would round them up, others down
    contenders: Callable[[], dict[str, Contender]]
    bars: dict[str, float] = field(default_factory=dict)  # peer: how many times faster ours must be


class Start(gym.Wrapper[Any, Any, Any, Any]):
    """Notes when the first step is taken, in whichever environment."""

    at: ClassVar[float | None] = None

    def step(self, action: Any) -> Any:
        if Start.at is None:
            Start.at = time.process_time()
        return self.env.step(action)


def ours(algorithm: str, env_id: str, **settings: Any) -> Contender:
    def run(steps: int) -> None:
        module = find(algorithm)
        chosen = choose(module.Settings, settings)
        made = maker(env_id)
        make = (lambda: Start(made())) if env_id == PONG else made
        module.train(Training(algorithm, env_id, steps=steps, settings=chosen, make=make, quiet=True), chosen)

    return run


def plain(
    train: Callable[..., None], env_id: str, n: int, mode: Any = AutoresetMode.NEXT_STEP, **options: Any
) -> Contender:
    def run(steps: int) -> None:
        made = (plain_scripts.make_atari_env if env_id == PONG else plain_scripts.make_env)(env_id)
        make = (lambda: Start(made())) if env_id == PONG else made
        envs = SyncVectorEnv([make] * n, autoreset_mode=mode)
        train(envs, steps, **options)
        envs.close()

    return run


def sb3(algorithm: str, env_id: str, n: int, **options: Any) -> Contender:
    import stable_baselines3
    from stable_baselines3.common.env_util import make_vec_env

    model = getattr(stable_baselines3, algorithm)("MlpPolicy", make_vec_env(env_id, n, seed=1), device="cpu", **options)
    return lambda steps: model.learn(steps)


def ppo(envs: int, steps: int, epochs: int, minibatch: int) -> dict[str, Contender]:
    mine = ours(
        "ppo",
        CARTPOLE,
        envs=envs,
        steps=steps,
        epochs=epochs,
        minibatch=minibatch,
        lr=2.5e-4,
        anneal=False,
        entropy_coef=0.01,
    )
    theirs = {"n_steps": steps, "n_epochs": epochs, "batch_size": minibatch, "learning_rate": 2.5e-4, "ent_coef": 0.01}
    script = {"num_steps": steps, "update_epochs": epochs, "minibatch_size": minibatch}
    return {
        "rldebug": mine,
        "SB3": sb3("PPO", CARTPOLE, envs, **theirs),
        "Tianshou": throughput_peers.tianshou_ppo(envs, steps, epochs, minibatch),
        "TorchRL": throughput_peers.torchrl_ppo(envs, steps, epochs, minibatch),
        "plain": plain(plain_scripts.ppo, CARTPOLE, envs, **script),
    }


def a2c() -> dict[str, Contender]:
    return {
        "rldebug": ours("a2c", CARTPOLE, envs=1, steps=5, lr=7e-4, gamma=0.99, lam=1.0, anneal=False),
        "SB3": sb3("A2C", CARTPOLE, 1),
        "Tianshou": throughput_peers.tianshou_a2c(),
        "plain": plain(plain_scripts.a2c, CARTPOLE, 1),
    }


def dqn() -> dict[str, Contender]:
    same = {"buffer": 50_000, "learning_starts": 100, "batch": 32, "lr": 1e-4, "train_every": 4, "updates": 1}
    ends = {
        "epsilon_fraction": 0.1,
        "epsilon_end": 0.05,
        "target_every": 2_500,
        "hidden": (64, 64),
        "double": False,
        "n_step": 1,
        "anneal": False,
    }
    return {
        "rldebug": ours("dqn", CARTPOLE, envs=1, **same, **ends),
        "SB3": sb3("DQN", CARTPOLE, 1, buffer_size=50_000),
        "Tianshou": throughput_peers.tianshou_dqn(),
        "TorchRL": throughput_peers.torchrl_dqn(),
        "plain": plain(plain_scripts.dqn, CARTPOLE, 1, AutoresetMode.SAME_STEP),
    }


def atari_ppo() -> dict[str, Contender]:
    settings = {"envs": 8, "steps": 128, "epochs": 4, "minibatch": 256, "lr": 2.5e-4, "anneal": False}
    script = {"num_steps": 128, "update_epochs": 4, "minibatch_size": 256, "agent_class": plain_scripts.ImageAgent}
    return {
        "rldebug": ours("ppo", PONG, **settings, entropy_coef=0.01),
        "plain": plain(plain_scripts.ppo, PONG, 8, **script),
    }


def atari_dqn() -> dict[str, Contender]:
    same = {"buffer": 10_000, "learning_starts": 200, "batch": 32, "lr": 1e-4, "train_every": 4, "updates": 1}
    ends = {
        "epsilon_fraction": 0.1,
        "epsilon_end": 0.05,
        "target_every": 250,
        "double": False,
        "n_step": 1,
        "anneal": False,
    }
    script = {"buffer_size": 10_000, "learning_starts": 200, "target_network_frequency": 1_000}
    return {
        "rldebug": ours("dqn", PONG, envs=1, **same, **ends),
        "plain": plain(
            plain_scripts.dqn, PONG, 1, AutoresetMode.SAME_STEP, network=plain_scripts.ImageQNetwork, **script
        ),
    }


TASKS = {
    "ppo": Task(
        "PPO, CartPole, 4 × 128, 4 epochs of 4 × 128", 8192, 512, lambda: ppo(4, 128, 4, 128), {"SB3": 1.7, "plain": 2}
    ),
    "ppo-1": Task(
        "PPO, CartPole, 1 × 2048, 10 epochs of 32 × 64",
        4096,
        2048,
        lambda: ppo(1, 2048, 10, 64),
        {"SB3": 1.7, "plain": 2},
    ),
    "a2c": Task("A2C, CartPole, 1 × 5", 4000, 500, a2c, {"SB3": 1.5, "plain": 2}),
    "dqn": Task("DQN, CartPole, an update of 32 every 4 steps", 6000, 500, dqn, {"SB3": 1.5, "plain": 2}),
    "atari-ppo": Task("PPO, Pong, 8 × 128, 4 epochs of 4 × 256", 1024, 1024, atari_ppo, {"plain": 2}),
    "atari-dqn": Task("DQN, Pong, an update of 32 every 4 steps", 1000, 500, atari_dqn, {"plain": 2}),
}


def measure(task: Task, rounds: int, steps: int | None) -> dict[str, list[float]]:
    """Environment steps per CPU second, by contender, by round."""
    contenders = task.contenders()
    paces: dict[str, list[float]] = {name: [] for name in contenders}
    for i in range(rounds + 1):
        for name, train in contenders.items():
            n = math.ceil((steps or task.steps) / task.unit) * task.unit
            Start.at, began = None, time.process_time()
            train(n)
            if i:
                paces[name].append(n / (time.process_time() - (Start.at or began)))
    return paces


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--only", nargs="*", choices=list(TASKS))
    asked = parser.parse_args()
    torch.set_num_threads(1)
    missed = []
    for key in asked.only or TASKS:
        task = TASKS[key]
        try:
            paces = measure(task, asked.rounds, asked.steps)
        except ModuleNotFoundError as error:
            print(f"{error.name} is not installed: pip install -e '.[bench]'", file=sys.stderr)
            return 2
        except (EnvError, gym.error.DependencyNotInstalled) as error:
            print(error, file=sys.stderr)
            return 2
        mine = paces["rldebug"]
        print(f"\n{task.title}: environment steps per CPU second, median of {asked.rounds} rounds")
        for name, each in paces.items():
            # Round by round: what slows the machine down for a while slows both.
            ratio = statistics.median(a / b for a, b in zip(mine, each, strict=True))
            bar = task.bars.get(name)
            verdict = "" if bar is None else f"  bar {bar}: {'kept' if ratio >= bar else 'MISSED'}"
            if bar is not None and ratio < bar:
                missed.append(f"{key} against {name}")
            spread = f"{min(each):7.0f} – {max(each):.0f}"
            print(f"  {name:<10}{statistics.median(each):8.0f}   ({spread:>16})   rldebug is {ratio:5.2f} ×{verdict}")
        sys.stdout.flush()
    if missed:
        print(f"\nmissed: {', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
