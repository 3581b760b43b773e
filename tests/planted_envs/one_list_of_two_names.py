"""Who plays, and who may ever play, are one list: who is struck off is missing from all later games."""

from __future__ import annotations

from tests.planted_envs._tag import Tag

EXPECT = "ENV047"


class Shrinking(Tag):
    def reset(self, seed=None, options=None):
        if seed is not None:
            self.rng = type(self.rng)(type(self.rng.bit_generator)(seed))
        self.agents = self.possible_agents
        self.begin()
        return self.seen(self.agents), {each: {} for each in self.agents}

    def view(self, agent):
        return super().view(agent) if len(self.possible_agents) == 3 else self.spaces[agent][0].low

    def step(self, actions):
        there = list(self.agents)
        self.move(actions)
        ended, cut, paid = self.judge(there)
        result = self.seen(there), paid, ended, cut, {each: {} for each in there}
        for each in there:
            if ended[each] and each != "chaser":
                self.agents.remove(each)
        if all(ended[each] or cut[each] for each in there):
            self.agents = []
        return result


def make():
    return Shrinking()


def sound():
    return Tag()
