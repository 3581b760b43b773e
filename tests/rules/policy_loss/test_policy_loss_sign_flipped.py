from rldebug.evidence.run import Run
from rldebug.rules.policy_loss.policy_loss_sign_flipped import PolicyLossSignFlipped
from tests.judge import fires, not_enough, quiet


def run_with(right, wrong, **more):
    return Run.from_series({"loss/policy_mismatch": right, "loss/policy_flipped_mismatch": wrong, **more})


def test_fires_when_the_loss_is_the_objective():
    fires(PolicyLossSignFlipped(), run_with([1e-8, 0.02, 0.3, 1e-8], [1e-8, 1e-8, 0.0, 1e-8]))


def test_fires_when_the_policy_moves_away_from_good_actions():
    pull = {"policy/advantage_pull": [-0.01, -0.02, -0.03] * 5}
    fires(PolicyLossSignFlipped(), run_with([0.02] * 6, [1e-8] * 6, **pull))


def test_fires_on_a_single_reading_that_leaves_no_doubt():
    fires(PolicyLossSignFlipped(), run_with([0.69], [1e-8]))


def test_quiet_when_the_loss_is_right():
    quiet(PolicyLossSignFlipped(), run_with([0.0] * 6, [0.02] * 6))


def test_quiet_when_the_loss_is_neither():
    quiet(PolicyLossSignFlipped(), run_with([0.1, 0.2, 0.1], [0.2, 0.05, 0.3]))


def test_quiet_when_it_fits_by_accident_once():
    quiet(PolicyLossSignFlipped(), run_with([0.1, 0.2, 0.1], [1e-6, 0.05, 0.3]))


def test_quiet_when_the_objective_was_handed_over_and_the_policy_follows_the_advantages():
    pull = {"policy/advantage_pull": [0.01, 0.02, 0.03] * 5}
    quiet(PolicyLossSignFlipped(), run_with([0.02] * 6, [1e-8] * 6, **pull))


def test_quiet_when_the_objective_was_handed_over_and_the_return_rises():
    returns = {"episode/return_mean": [10.0 + i + (i % 3) for i in range(40)]}
    quiet(PolicyLossSignFlipped(), run_with([0.02] * 6, [1e-8] * 6, **returns))


def test_declines_on_a_single_reading_that_leaves_doubt():
    not_enough(PolicyLossSignFlipped(), run_with([0.005], [1e-8]))


def test_declines_when_both_signs_are_the_same_number():
    not_enough(PolicyLossSignFlipped(), run_with([1e-8] * 6, [1e-8] * 6))
