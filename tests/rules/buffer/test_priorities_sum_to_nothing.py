import random

from rldebug.rules.buffer.priorities_sum_to_nothing import PrioritiesSumToNothing
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_all_priorities_are_zero():
    def program():
        random.choices([1, 2], weights=[0.0, 0.0])

    names(PrioritiesSumToNothing(), crashed(program))


def test_quiet_when_there_are_too_few_weights():
    def program():
        random.choices([1, 2], weights=[0.5])

    quiet(PrioritiesSumToNothing(), crashed(program))
