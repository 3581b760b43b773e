import numpy as np

from rldebug.rules.buffer.crash_in_buffer import CrashInBuffer
from tests.judge import quiet
from tests.rules.crashes import crashed, names


class Memory:
    def __init__(self):
        self.obs, self.reward, self.at = np.zeros((2, 3)), np.zeros(2), 0

    def add(self, obs, reward):
        self.obs[self.at] = obs.flatten()


def test_fires_when_what_is_stored_is_no_array():
    names(CrashInBuffer(), crashed(lambda: Memory().add(3.0, 1.0)))


def test_quiet_when_a_rule_knows_the_error():
    quiet(CrashInBuffer(), crashed(lambda: Memory().add(np.zeros(5), 1.0)))
