"""Advantages of one rollout, by rldebug's kernel; and by the loop over time that most programs have."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from rldebug.evidence.timing import Measured, Timing
from rldebug.parts.returns import gae
from rldebug.yardstick.clock import race
from rldebug.yardstick.shape import Shape, played, share

NAME = "returns"
MOST = 2_000_000  # cells; of longer rollouts, a part is measured
LOOPED = 256  # steps of the loop, likewise


def asked(timing: Timing) -> Shape | None:
    concerned = share(timing, "advantages")
    steps, lanes = played(timing)
    return Shape(concerned, steps=steps, lanes=lanes) if concerned and steps else None


def prepare() -> None:
    gae(**_rollout(2, 1), gamma=0.99, lam=0.95)


def measure(shape: Shape) -> Measured:
    """`seconds` and `instead` are of a whole rollout."""
    steps = max(1, min(shape.steps, MOST // shape.lanes))
    rollout = _rollout(steps, shape.lanes)
    looped = min(steps, LOOPED)
    few = {name: torch.from_numpy(each) for name, each in _rollout(looped, shape.lanes).items()}
    found = race({"kernel": lambda: gae(**rollout, gamma=0.99, lam=0.95), "loop": lambda: _in_a_loop(few)})
    kernel, loop = found["kernel"] * shape.steps / steps, found["loop"] * shape.steps / looped
    what = f"rldebug.parts.returns.gae, {shape.steps} × {shape.lanes}"
    return Measured(NAME, what, kernel, instead=loop, detail={"kernel": kernel, "loop": loop})


def _rollout(steps: int, lanes: int) -> dict[str, Any]:
    random = np.random.default_rng(0)
    size = (steps, lanes)
    reward, value, final_value = (random.standard_normal(size, np.float32) for _ in range(3))
    terminated, truncated = random.random(size) < 0.01, random.random(size) < 0.01
    last_value = random.standard_normal(lanes, np.float32)
    return {
        "reward": reward,
        "value": value,
        "terminated": terminated,
        "truncated": truncated,
        "last_value": last_value,
        "final_value": final_value,
    }


def _in_a_loop(rollout: dict[str, torch.Tensor]) -> torch.Tensor:
    """As it is usually written, with tensors."""
    reward, value, following = rollout["reward"], rollout["value"], rollout["last_value"]
    on = 1.0 - rollout["terminated"].float()
    advantage = torch.zeros_like(reward)
    last = torch.zeros_like(following)
    for t in reversed(range(len(reward))):
        delta = reward[t] + 0.99 * following * on[t] - value[t]
        advantage[t] = last = delta + 0.99 * 0.95 * on[t] * last
        following = value[t]
    return advantage + value
