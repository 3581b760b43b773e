import math

from rldebug.rules.exploration.logarithm_of_zero import LogarithmOfZero
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_a_count_is_zero():
    def program():
        count = 0
        return math.log(count)

    names(LogarithmOfZero(), crashed(program))


def test_quiet_when_a_number_is_no_number():
    def program():
        return float("one")

    quiet(LogarithmOfZero(), crashed(program))
