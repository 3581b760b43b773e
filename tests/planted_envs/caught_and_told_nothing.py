"""Who is caught is struck off before the others are told: its own last step is told to nobody."""

from __future__ import annotations

from tests.planted_envs._tag import Tag

EXPECT = "ENV044"


class Unheard(Tag):
    def step(self, actions):
        seen, paid, ended, cut, infos = super().step(actions)
        left = self.agents or list(seen)
        return tuple({each: given[each] for each in left} for given in (seen, paid, ended, cut, infos))


def make():
    return Unheard()


def sound():
    return Tag()
