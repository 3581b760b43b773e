"""Runners that are caught stay on the list of those who play."""

from __future__ import annotations

from tests.planted_envs._tag import Tag

EXPECT = "ENV046"


class Haunted(Tag):
    def step(self, actions):
        there = self.agents
        result = super().step(actions)
        if self.agents:
            self.agents = there
        return result


def make():
    return Haunted()


def sound():
    return Tag()
