import json

import numpy as np

from rldebug.rules.evaluation.number_json_refuses import NumberJsonRefuses
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_a_number_is_of_numpy():
    def program():
        json.dumps(np.float32(1))

    names(NumberJsonRefuses(), crashed(program))


def test_quiet_when_a_text_is_no_json():
    def program():
        json.loads("{")

    quiet(NumberJsonRefuses(), crashed(program))
