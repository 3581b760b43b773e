from rldebug.evidence.run import Run
from rldebug.rules.advantage.advantage_sign_flipped import AdvantageSignFlipped
from tests.judge import fires, not_enough, quiet


def run(corr, stale=None, rows=64.0, **more):
    known = {} if stale is None else {"batch/staleness_mean": stale}
    return Run.from_series(
        {
            "advantage/residual_corr": corr,
            "batch/rows": [rows] * len(corr),
            **known,
            **{name.replace("__", "/"): each for name, each in more.items()},
        }
    )


def test_fires_when_every_fresh_batch_is_a_falling_line():
    fires(AdvantageSignFlipped(), run([-1.0, -0.8, -1.0, -0.6, -0.9999995], stale=[0.0, 1.0, 0.0, 1.0, 0.0]))


def test_fires_on_the_first_updates_where_nobody_says_which_are_fresh():
    fires(AdvantageSignFlipped(), run([-1.0, -0.9999, -0.9995, -0.9999] + [-0.9999] * 8))


def test_quiet_when_it_is_a_rising_line():
    quiet(AdvantageSignFlipped(), run([1.0] * 6, stale=[0.0] * 6))


def test_quiet_when_it_is_merely_negative_after_many_epochs():
    quiet(AdvantageSignFlipped(), run([1.0, -0.4, 1.0, -0.5, 1.0], stale=[0.0, 9.0, 0.0, 9.0, 0.0]))


def test_quiet_when_the_policy_loss_makes_up_for_it():
    more = {"loss__policy_mismatch": [1.5] * 5, "loss__policy_flipped_mismatch": [1e-7] * 5}
    quiet(AdvantageSignFlipped(), run([-1.0] * 5, stale=[0.0] * 5, **more))


def test_declines_on_batches_of_two_rows():
    not_enough(AdvantageSignFlipped(), run([-1.0, 1.0, -1.0, -1.0], stale=[0.0] * 4, rows=2.0))
