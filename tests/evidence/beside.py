"""Small references, and files written beside them to be compared."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rldebug.evidence.hyperparameters import Comparison, compare


@dataclass(frozen=True)
class PPO:
    envs: int = 8  # environments side by side
    steps: int = 128  # in each environment between two rounds of learning
    epochs: int = 4  # passes over each batch
    minibatch: int = 256  # rows per gradient step
    lr: float = 2.5e-4  # Adam's step size
    anneal: bool = True  # let it fall to zero
    gamma: float = 0.99  # how much a reward one step later counts
    lam: float = 0.95  # GAE's λ
    clip: float = 0.2  # how far the ratio may move
    value_coef: float = 0.5  # weight of the value loss
    entropy_coef: float = 0.01  # weight of the entropy
    max_grad_norm: float = 0.5  # longer gradients are shortened
    normalise_advantage: bool = True  # within a minibatch
    hidden: tuple[int, ...] = (64, 64)  # widths


@dataclass(frozen=True)
class DQN:
    buffer: int = 100_000
    learning_starts: int = 1_000
    train_every: int = 4
    batch: int = 128
    lr: float = 6e-4
    gamma: float = 0.99
    target_every: int = 250
    epsilon_start: float = 1.0
    epsilon_end: float = 0.05
    epsilon_fraction: float = 0.5
    n_step: int = 1
    prioritised: bool = False
    alpha: float = 0.6
    beta: float = 0.4


@dataclass(frozen=True)
class SAC:
    lr: float = 3e-4
    gamma: float = 0.99
    buffer: int = 1_000_000
    batch: int = 256
    tau: float = 0.005
    alpha: float = 0.2


@dataclass(frozen=True)
class VPG:
    steps: int = 4000
    lr: float = 3e-4
    critic_lr: float = 1e-3
    gamma: float = 0.99
    lam: float = 0.97


@dataclass(frozen=True)
class TRPO:
    envs: int = 8
    steps: int = 256
    max_kl: float = 0.01
    cg_steps: int = 10
    damping: float = 0.1
    tries: int = 10
    value_lr: float = 1e-3


@dataclass(frozen=True)
class A2C:
    lr: float = 7e-4
    entropy_coef: float = 0.01
    lam: float = 1.0


KINDS = {"ppo": PPO, "dqn": DQN, "sac": SAC, "vpg": VPG, "trpo": TRPO, "a2c": A2C}


def compared(algorithm: str, text: str, name: str = "train.py") -> Comparison:
    Path(name).write_text(text, encoding="utf-8")
    return compare(algorithm, KINDS[algorithm], Path(name))


def values(comparison: Comparison) -> dict[str, list[object]]:
    found: dict[str, list[object]] = {}
    for row in comparison.rows:
        found.setdefault(row.name, []).append(row.yours)
    return found


def differing(comparison: Comparison) -> set[str]:
    return {row.name for row in comparison.rows if not row.same}


def verdict(comparison: Comparison, name: str) -> str:
    [row] = [row for row in comparison.rows if row.name == name]
    return row.verdict


def left(comparison: Comparison) -> dict[str, object]:
    return {each.name: each.value for each in comparison.unmatched}
