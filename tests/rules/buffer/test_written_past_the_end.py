import numpy as np

from rldebug.rules.buffer.written_past_the_end import WrittenPastTheEnd
from tests.judge import quiet
from tests.rules.crashes import crashed, names


class Memory:
    def __init__(self):
        self.obs, self.reward, self.at = np.zeros((2, 3)), np.zeros(2), 0

    def add(self, obs, reward):
        self.obs[self.at] = obs
        self.reward[self.at] = reward
        self.at += 1


def fill(times, obs=0.0):
    memory = Memory()
    for _ in range(times):
        memory.add(obs, 1.0)


def test_fires_when_the_position_does_not_begin_anew():
    assert "self.at is 2" in names(WrittenPastTheEnd(), crashed(lambda: fill(3))).seen


def test_quiet_when_the_rows_do_not_fit():
    quiet(WrittenPastTheEnd(), crashed(lambda: fill(1, np.zeros(4))))
