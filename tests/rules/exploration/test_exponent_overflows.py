import math

from rldebug.rules.exploration.exponent_overflows import ExponentOverflows
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_a_decay_grows():
    def program():
        step = 100_000
        return math.exp(step / 100)

    names(ExponentOverflows(), crashed(program))


def test_quiet_when_a_log_is_undefined():
    def program():
        count = 0
        return math.log(count)

    quiet(ExponentOverflows(), crashed(program))
