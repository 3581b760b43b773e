import numpy as np

from rldebug.rules.preprocessing.observation_used_as_key import ObservationUsedAsKey
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_an_array_is_a_key():
    def program():
        table, obs = {}, np.zeros(2)
        return table[obs]

    names(ObservationUsedAsKey(), crashed(program))


def test_quiet_when_a_state_is_new():
    def program():
        table, obs = {}, 3
        return table[obs]

    quiet(ObservationUsedAsKey(), crashed(program))
