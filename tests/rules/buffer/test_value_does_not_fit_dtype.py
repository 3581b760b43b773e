import numpy as np

from rldebug.rules.buffer.value_does_not_fit_dtype import ValueDoesNotFitDtype
from tests.judge import quiet
from tests.rules.crashes import crashed, names


class Memory:
    def __init__(self):
        self.obs, self.reward, self.at = np.zeros((50, 2), np.uint8), np.zeros(50, np.uint8), 0

    def add(self, obs, reward):
        self.obs[self.at], self.reward[self.at] = obs, reward


def test_fires_when_a_negative_reward_is_stored_as_a_byte():
    names(ValueDoesNotFitDtype(), crashed(lambda: Memory().add(np.zeros(2), -1)))


def test_fires_when_nan_is_stored_as_an_integer():
    names(ValueDoesNotFitDtype(), crashed(lambda: Memory().add(np.zeros(2), float("nan"))))


def test_quiet_when_it_happens_elsewhere():
    quiet(ValueDoesNotFitDtype(), crashed(lambda: int(float("nan"))))
