from rldebug.rules.discounting.values_run_past_the_end import ValuesRunPastTheEnd
from tests.judge import fires, quiet
from tests.rules.ladders import GROWING, ladder, values


def test_fires_on_the_answer_without_an_end():
    found = fires(ValuesRunPastTheEnd(), ladder(values("constant-reward", [10.0], matched=["end-ignored"])))
    assert "here 10.00" in found.seen


def test_quiet_where_the_value_is_too_small():
    quiet(ValuesRunPastTheEnd(), ladder(values("constant-reward", [0.2])))


def test_quiet_where_it_rests_above():
    quiet(ValuesRunPastTheEnd(), ladder(values("constant-reward", [2.0])))


def test_fires_where_values_rise_and_rise():
    found = fires(ValuesRunPastTheEnd(), ladder(values("constant-reward", [6.0], errors=GROWING)))
    assert "here 6.00" in found.seen
