from rldebug.rules.discounting.time_limit_ends_values import TimeLimitEndsValues
from tests.judge import fires, quiet
from tests.rules.ladders import ladder, values


def test_fires_on_the_value_of_five_steps():
    found = fires(TimeLimitEndsValues(), ladder(values("truncated-episode", [0.3], matched=["truncation-as-end"])))
    assert "here 0.30" in found.seen


def test_quiet_on_another_wrong_value():
    quiet(TimeLimitEndsValues(), ladder(values("truncated-episode", [2.7])))
