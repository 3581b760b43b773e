from rldebug.evidence.run import Run
from rldebug.rules.policy_loss.clip_fraction_high import ClipFractionHigh
from tests.judge import fires, not_enough, quiet


def run_with(clipped, rollouts=10, first=1e-7):
    """Rollouts of four updates each."""
    return Run.from_series(
        {
            "policy/clip_fraction": [0.0, *clipped] * rollouts,
            "policy/first_log_ratio": [first, None, None, None] * rollouts,
            "policy/later_log_ratio": [None, 0.5, 0.6, 0.7] * rollouts,
        }
    )


def test_fires_when_most_rows_are_clipped():
    fires(ClipFractionHigh(), run_with([0.5, 0.7, 0.8]))


def test_quiet_when_only_the_last_minibatch_of_a_rollout_clips_much():
    quiet(ClipFractionHigh(), run_with([0.1, 0.3, 0.6]))


def test_quiet_when_the_data_is_older_by_design():
    quiet(ClipFractionHigh(), run_with([0.8, 0.8, 0.8], first=1.0))


def test_declines_on_a_handful_of_rollouts():
    not_enough(ClipFractionHigh(), run_with([0.5, 0.7, 0.8], rollouts=3))


def test_in_a_log_the_fraction_is_enough():
    fires(ClipFractionHigh(), Run.from_series({"policy/clip_fraction": [0.7] * 40}, meta={"log": {}}))
    quiet(ClipFractionHigh(), Run.from_series({"policy/clip_fraction": [0.2] * 40}, meta={"log": {}}))
