import dataclasses

from rldebug.evidence.env_contract import Ending, EnvContract
from rldebug.rules.environment.time_limit_as_termination import TimeLimitAsTermination
from tests.judge import fires, not_enough, quiet

SPREAD = [Ending(length, True, False) for length in range(12, 60, 2)]
LATE = [Ending(80, True, False)] * 10


def contract(endings, clock=""):
    return EnvContract("e", endings=tuple(endings), longest=max(each.length for each in endings), clock=clock)


def test_fires_when_the_longest_all_terminate_in_one_step():
    found = fires(TimeLimitAsTermination(), contract(SPREAD + LATE))
    assert "10 of 34" in found.seen
    assert "step 80" in found.seen


def test_quiet_when_they_are_truncated():
    quiet(TimeLimitAsTermination(), contract(SPREAD + [Ending(80, False, True)] * 10))


def test_quiet_when_the_last_length_is_one_among_equals():
    quiet(TimeLimitAsTermination(), contract([Ending(length, True, False) for length in range(14, 20)] * 30))


def test_quiet_when_the_observation_tells_the_time():
    quiet(TimeLimitAsTermination(), contract(SPREAD + LATE, clock="element 3"))


def test_quiet_when_the_last_step_is_rewarded_as_no_other():
    quiet(TimeLimitAsTermination(), contract(SPREAD + [dataclasses.replace(each, special=True) for each in LATE]))


def test_declines_on_few_episodes_and_without_knowing_of_a_clock():
    not_enough(TimeLimitAsTermination(), contract(SPREAD[:5]))
    not_enough(TimeLimitAsTermination(), contract(SPREAD + LATE, clock=None))
