import math

from rldebug.evidence.run import Run
from rldebug.rules.policy_loss.trust_region_left import TrustRegionLeft
from tests.judge import fires, not_enough, quiet


def run_with(ratios):
    return Run.from_series({"policy/kl_over_limit": ratios})


def test_fires_when_most_steps_are_beyond_the_limit():
    finding = fires(TrustRegionLeft(), run_with([0.9, 4.0, 3.0, 6.0, 2.0, 5.0]))
    assert "in 83% of 6 updates" in finding.seen
    assert finding.where.update == 1


def test_quiet_when_steps_stay_within_the_limit():
    quiet(TrustRegionLeft(), run_with([0.9, 1.0, 0.7, 0.0, 0.99, 0.8]))


def test_quiet_on_a_line_search_with_slack():
    quiet(TrustRegionLeft(), run_with([1.4, 1.2, 1.49, 1.3, 1.1]))


def test_quiet_when_half_of_the_steps_are_within():
    quiet(TrustRegionLeft(), run_with([3.0, 0.5] * 4))


def test_updates_of_the_critic_do_not_count():
    fires(TrustRegionLeft(), run_with([4.0, None, None, None, None] * 5))


def test_declines_on_a_handful_of_steps():
    not_enough(TrustRegionLeft(), run_with([4.0] * 4))
    not_enough(TrustRegionLeft(), run_with([4.0] * 4 + [math.nan] * 4))
