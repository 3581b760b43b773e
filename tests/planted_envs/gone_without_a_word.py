"""The game is over for all once the runners are caught, and only the runners are told."""

from __future__ import annotations

from tests.planted_envs._tag import Tag

EXPECT = "ENV045"


class Silent(Tag):
    def judge(self, agents):
        ended, cut, paid = super().judge(agents)
        self.won = all(ended.values())
        return ended, cut, paid

    def step(self, actions):
        seen, paid, ended, cut, infos = super().step(actions)
        if self.won:
            ended["chaser"] = False
        return seen, paid, ended, cut, infos


def make():
    return Silent()


def sound():
    return Tag()
