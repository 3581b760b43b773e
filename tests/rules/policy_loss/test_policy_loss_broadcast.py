from rldebug.evidence.run import Run
from rldebug.rules.policy_loss.policy_loss_broadcast import PolicyLossBroadcast
from tests.judge import fires, not_enough, quiet


def run_with(rows, pairs, loss=0.4, **more):
    return Run.from_series(
        {"loss/policy": [loss] * len(rows), "loss/policy_mismatch": rows, "loss/policy_outer_mismatch": pairs}, **more
    )


COLUMN = {"facts": {"shapes": {"logp_new": [64], "advantage": [64, 1]}}}


def test_fires_when_every_log_prob_meets_every_advantage():
    assert "(64, 1)" in fires(PolicyLossBroadcast(), run_with([0.02, 0.1, 0.03], [1e-8, 0.0, 1e-7], **COLUMN)).seen


def test_fires_when_log_probs_are_averaged_first():
    fires(PolicyLossBroadcast(), run_with([0.02, 0.1, 0.03], [1e-8, 0.0, 1e-7]))


def test_fires_when_normalised_advantages_cancel_and_the_shapes_tell():
    fires(PolicyLossBroadcast(), run_with([0.02, 0.1, 0.03], [1e-8, 0.0, 1e-7], loss=1e-9, **COLUMN))


def test_quiet_when_the_loss_is_taken_row_by_row():
    quiet(PolicyLossBroadcast(), run_with([0.0, 0.0, 0.0], [0.02, 0.1, 0.03]))


def test_quiet_when_the_policy_loss_is_switched_off():
    quiet(PolicyLossBroadcast(), run_with([0.02, 0.1, 0.03], [1e-8, 0.0, 1e-7], loss=0.0))


def test_declines_when_rows_and_pairs_give_the_same_number():
    not_enough(PolicyLossBroadcast(), run_with([1e-8, 0.0, 0.0], [1e-8, 0.0, 1e-7]))


def test_quiet_when_a_loss_of_zero_meets_shapes_that_do_not_broadcast():
    flattened = {"facts": {"shapes": {"logp_new": [16, 4], "advantage": [64]}}}
    quiet(PolicyLossBroadcast(), run_with([0.02, 0.1, 0.03], [1e-8, 0.0, 1e-7], loss=1e-9, **flattened))
