"""The agent that draws every action anew: the baseline for all others."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np


class Random:
    """Uniform over the action space, with a generator of its own; `info["action_mask"]` is honoured."""

    kind = "random"

    def __init__(self, action_space: gym.Space[Any], seed: int = 0) -> None:
        self.name = "random"
        self.space = copy.deepcopy(action_space)  # its own stream: the environment may draw from the original
        self.space.seed(seed)

    def act(self, obs: Any, info: Mapping[str, Any], t: int) -> Any:
        return masked_sample(self.space, info)


def masked_sample(space: gym.Space[Any], info: Mapping[str, Any]) -> Any:
    """A draw among the actions that `info["action_mask"]` allows; among all where there is no mask, or none fits."""
    mask = info.get("action_mask") if isinstance(info, Mapping) else None
    if mask is None:
        return space.sample()
    try:
        parts = isinstance(mask, list | tuple) and any(np.ndim(each) > 0 for each in mask)
        if not parts and not np.any(mask):  # Gymnasium would give the first action, whatever is meant by it
            return space.sample()
        # Gymnasium insists on int8; many environments hand out booleans.
        return space.sample(tuple(np.asarray(each, np.int8) for each in mask) if parts else np.asarray(mask, np.int8))
    except Exception:  # a mask of another kind: advice that cannot be followed
        return space.sample()


def allowed(action: Any, info: Mapping[str, Any]) -> bool:
    """Whether a mask over discrete actions lets this one through; true where there is none."""
    mask = info.get("action_mask") if isinstance(info, Mapping) else None
    if mask is None or np.ndim(action) != 0 or np.ndim(mask) != 1:
        return True
    place = int(action)
    return not 0 <= place < len(mask) or bool(mask[place])
