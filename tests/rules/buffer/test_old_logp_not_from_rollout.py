from rldebug.evidence.run import Run
from rldebug.rules.buffer.old_logp_not_from_rollout import OldLogpNotFromRollout
from tests.judge import fires, not_enough, quiet


def run(share, log_ratio, kl):
    return Run.from_series({"policy/logp_from_rollout": share, "policy/first_log_ratio": log_ratio, "policy/kl": kl})


def test_fires_when_no_old_log_prob_is_the_rollouts_and_the_ratio_is_off():
    found = fires(OldLogpNotFromRollout(), run([1.0, *[0.0] * 9], [0.0, *[2.5] * 9], [0.0, *[0.4] * 9]))
    assert found.where.update == 1


def test_quiet_when_they_are_the_rollouts_own():
    quiet(OldLogpNotFromRollout(), run([1.0] * 10, [0.0] * 10, [0.0] * 10))


def test_quiet_when_they_are_recomputed_by_the_same_policy():
    quiet(OldLogpNotFromRollout(), run([0.0] * 10, [3e-6] * 10, [1e-12] * 10))


def test_quiet_when_recomputed_in_half_precision():
    quiet(OldLogpNotFromRollout(), run([0.0] * 10, [0.03] * 10, [1e-5] * 10))


def test_quiet_when_several_rollouts_make_one_batch():
    quiet(OldLogpNotFromRollout(), run([0.1] * 10, [0.0] * 10, [0.0] * 10))


def test_quiet_when_dropout_moves_the_ratio_but_the_rows_are_right():
    quiet(OldLogpNotFromRollout(), run([1.0] * 10, [0.5] * 10, [0.02] * 10))


def test_declines_when_there_was_only_one_rollout():
    not_enough(OldLogpNotFromRollout(), run([0.0] * 5, [2.5], [0.4] * 5))
