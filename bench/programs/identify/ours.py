"""A reference algorithm of rldebug, for a while, with settings that are nobody's default. python ours.py NAME STEPS"""

from __future__ import annotations

import sys
from typing import Any

import torch
from worlds import Ball

from rldebug import train

SETTINGS: dict[str, dict[str, Any]] = {
    "vpg": {"gamma": 0.97},
    "a2c": {"gamma": 0.97, "lam": 0.93},
    "ppo": {"gamma": 0.97, "lam": 0.91},
    "trpo": {"gamma": 0.97, "lam": 0.91},
    "dqn": {"gamma": 0.96},
    "sac": {"gamma": 0.95},
}

if __name__ == "__main__":
    torch.set_num_threads(1)
    name, steps = sys.argv[1], int(sys.argv[2])
    train(name, lambda: Ball(discrete=name != "sac"), steps=steps, seed=1, settings=SETTINGS[name], quiet=True)
