import pytest

from rldebug.evidence.env_contract import Outside


@pytest.mark.parametrize(
    ("low", "high", "worst", "excess"),
    [
        pytest.param(-1.0, 1.0, 2.0, 0.5, id="above"),
        pytest.param(-1.0, 1.0, -3.0, 1.0, id="below"),
        pytest.param(0.0, float("inf"), -0.5, 0.5, id="half-open"),
        pytest.param(float("-inf"), 20.0, 30.0, 0.5, id="half-open-of-size"),
        pytest.param(4.0, 4.0, 6.0, 0.5, id="no-width"),
    ],
)
def test_excess_is_a_share_of_the_width_or_of_the_bound(low, high, worst, excess):
    assert Outside("obs", low, high, worst, 1, 10).excess == pytest.approx(excess)


def test_share_is_of_all_observations():
    assert Outside("obs", 0.0, 1.0, 2.0, 3, 12).share == 0.25
