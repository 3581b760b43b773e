import pytest

from rldebug.evidence.timings.telling import lasting, weight


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0.000013, "0.013 ms"),
        (0.0006, "0.6 ms"),
        (0.012, "12 ms"),
        (0.4567, "457 ms"),
        (3.4, "3.4 s"),
        (90.0, "1.5 min"),
        (7560.0, "2.1 h"),
        (0.0, "0 ms"),
    ],
)
def test_durations_are_told_in_a_unit_that_fits(seconds, told):
    assert lasting(seconds) == told


def test_a_tenth_of_the_run_is_worth_a_warning():
    assert [weight(each) for each in (None, 1.05, 1.0999, 1.1, 3.0)] == ["note", "note", "note", "warning", "warning"]
