from rldebug.evidence.run import Run
from rldebug.rules.advantage.advantage_not_centred import AdvantageNotCentred
from tests.judge import fires, not_enough, quiet

N = 40


def run(advantage=14.0, spread=5.0, value=14.0, target=14.1, residual=0.1, stale=0.0):
    def column(x):
        return x if isinstance(x, list) else [x] * N

    return Run.from_series(
        {
            "advantage/mean": column(advantage),
            "advantage/std": column(spread),
            "value/mean": column(value),
            "target/mean": column(target),
            "target/std": column(5.0),
            "value/residual_var": column(residual),
            "batch/rows": column(64.0),
            "batch/staleness_mean": column(stale),
        }
    )


def test_fires_when_the_baseline_is_not_subtracted():
    assert "14" in fires(AdvantageNotCentred(), run()).seen


def test_quiet_when_advantages_are_normalised():
    quiet(AdvantageNotCentred(), run(advantage=0.0, spread=1.0))


def test_quiet_when_the_critic_lags_behind_rising_returns():
    quiet(AdvantageNotCentred(), run(advantage=10.0, spread=1.6, value=4.0, target=14.0))


def test_quiet_when_the_mean_is_within_the_spread():
    quiet(AdvantageNotCentred(), run(advantage=2.0, spread=5.0))


def test_quiet_when_the_mean_changes_sides():
    quiet(AdvantageNotCentred(), run(advantage=[14.0, -14.0] * (N // 2)))


def test_declines_when_the_critic_may_have_caught_up_already():
    not_enough(AdvantageNotCentred(), run(stale=[0.0] * 10 + [7.0] * 30))
