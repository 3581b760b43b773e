from rldebug.evidence.run import Run
from rldebug.rules.action_sampling.action_not_sampled_from_policy import ActionNotSampledFromPolicy
from tests.judge import fires, not_enough, quiet


def run_with(gap, spread=0.03, entropy=0.6, own=1.0, first=0.0):
    length = len(gap)
    return Run.from_series(
        {
            "policy/surprise_gap": gap,
            "policy/surprise_spread": [spread] * length,
            "policy/entropy": [entropy] * length,
            "policy/logp_from_rollout": [own] * length,
            "policy/first_log_ratio": [first] * length,
        }
    )


def test_fires_when_acting_is_greedy():
    assert "greedier" in fires(ActionNotSampledFromPolicy(), run_with([-0.15, -0.2, -0.1] * 8)).message


def test_fires_when_actions_come_from_elsewhere():
    fires(ActionNotSampledFromPolicy(), run_with([0.3, 0.25, 0.4] * 8))


def test_quiet_when_the_gap_is_what_chance_allows():
    quiet(ActionNotSampledFromPolicy(), run_with([-0.03, 0.02, 0.04, -0.05, 0.01] * 5))


def test_quiet_when_a_near_certain_policy_took_no_rare_action_yet():
    quiet(ActionNotSampledFromPolicy(), run_with([-0.007] * 24, spread=0.027, entropy=0.008))


def test_quiet_when_the_data_is_from_another_rollout():
    quiet(ActionNotSampledFromPolicy(), run_with([-0.2] * 24, own=0.1))


def test_quiet_when_the_policy_is_not_the_one_that_acted():
    quiet(ActionNotSampledFromPolicy(), run_with([-0.2] * 24, first=0.5))


def test_declines_on_a_handful_of_rollouts():
    not_enough(ActionNotSampledFromPolicy(), run_with([-0.2] * 3))
