from rldebug.evidence.run import Run
from rldebug.rules.policy_loss.ratio_explodes import RatioExplodes
from tests.judge import fires, not_enough, quiet


def run_with(ratio, far, rollouts=8, first=1e-7):
    """Rollouts of four updates each."""
    return Run.from_series(
        {
            "policy/ratio_max": [1.0, *ratio] * rollouts,
            "policy/first_log_ratio": [first, None, None, None] * rollouts,
            "policy/later_log_ratio": [None, *far] * rollouts,
        }
    )


def test_fires_when_ratios_are_enormous():
    fires(RatioExplodes(), run_with([3.0, 80.0, 5e4], [1.1, 4.4, 10.8]))


def test_fires_when_ratios_overflow():
    fires(RatioExplodes(), run_with([3.0, float("inf"), float("inf")], [1.1, 95.0, 120.0]))


def test_fires_when_most_rows_are_lost():
    fires(RatioExplodes(), run_with([1.0, 2.0, 1.5], [9.0, 30.0, 70.0]))


def test_quiet_when_ratios_stay_near_one():
    quiet(RatioExplodes(), run_with([1.2, 1.8, 4.0], [0.3, 0.7, 1.5]))


def test_quiet_when_single_minibatches_stray():
    near, far = run_with([1.2, 1.8, 4.0], [0.3, 0.7, 1.5]), run_with([50.0, 300.0, 900.0], [6.0, 9.0, 15.0], rollouts=1)
    quiet(RatioExplodes(), Run.of([*near.readings, *far.readings]))


def test_quiet_when_the_data_is_older_by_design():
    quiet(RatioExplodes(), run_with([3.0, 80.0, 5e4], [1.1, 4.4, 10.8], first=3.0))


def test_declines_on_a_handful_of_rollouts():
    not_enough(RatioExplodes(), run_with([3.0, 80.0, 5e4], [1.1, 4.4, 10.8], rollouts=2))
