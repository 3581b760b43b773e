"""The spaces of an agent are built whenever somebody asks for them."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from tests.planted_envs._tag import Tag

EXPECT = "ENV048"


class Anew(Tag):
    def observation_space(self, agent):
        return spaces.Box(-10, 10, (3,), np.float32)

    def action_space(self, agent):
        return spaces.Discrete(3)


def make():
    return Anew()


def sound():
    return Tag()
