from rldebug.evidence.run import Run
from rldebug.rules.action_sampling.logp_above_zero import LogpAboveZero
from tests.judge import fires, not_enough, quiet


def run_with(most, least, actions=2, **more):
    return Run.from_series(
        {"rollout/logp_max": most, "rollout/logp_min": least, **more}, facts={"env": {"actions": actions}}
    )


def test_fires_when_probabilities_were_stored():
    assert "probabilities" in fires(LogpAboveZero(), run_with([0.6, 0.8, 0.9], [0.4, 0.2, 0.1])).seen


def test_fires_when_negative_log_likelihoods_were_stored():
    assert "likelihoods" in fires(LogpAboveZero(), run_with([0.7, 1.8, 2.9], [0.4, 0.2, 0.1])).seen


def test_fires_when_logits_were_stored():
    assert "logits" in fires(LogpAboveZero(), run_with([0.7, 1.8, 2.9], [-0.4, -1.2, -0.1])).seen


def test_quiet_when_they_are_log_probs():
    quiet(LogpAboveZero(), run_with([-0.69, -0.1, 0.0], [-0.7, -2.0, -9.0]))


def test_quiet_when_a_small_number_inside_the_log_lifts_certain_actions_over_0():
    quiet(LogpAboveZero(), run_with([1e-3] * 3, [-0.7, -2.0, -9.0]))


def test_declines_when_densities_become_discrete_actions():
    more = {"policy/entropy": [1.4, 1.3, 1.2]}
    not_enough(LogpAboveZero(), run_with([0.6, 0.8, 0.9], [-4.0, -5.0, -6.0], **more))


def test_declines_when_actions_are_continuous():
    not_enough(LogpAboveZero(), run_with([0.6, 0.8, 0.9], [-4.0, -5.0, -6.0], actions=None))
