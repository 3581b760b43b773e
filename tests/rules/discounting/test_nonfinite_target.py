from rldebug.evidence.run import Run
from rldebug.rules.discounting.nonfinite_target import NonfiniteTarget
from tests.judge import fires, quiet

NAN = float("nan")


def test_fires_when_values_and_rewards_are_finite_and_the_target_is_not():
    run = Run.from_series(
        {
            "replay/reward_mean": [1.0] * 3,
            "value/mean": [0.1] * 3,
            "target/mean": [0.5, 0.5, -float("inf")],
            "loss/value": [0.1, 0.1, NAN],
            "weight/norm": [7.0, 7.0, NAN],
        },
        every=16,
    )
    finding = fires(NonfiniteTarget(), run)
    assert (finding.severity, finding.confidence) == ("error", 0.95)


def test_quiet_when_the_reward_was_first():
    run = Run.from_series({"reward/mean": [1.0, NAN], "target/mean": [0.5, NAN], "loss/value": [0.1, NAN]})
    quiet(NonfiniteTarget(), run)


def test_quiet_when_only_a_correlation_is_undefined():
    quiet(NonfiniteTarget(), Run.from_series({"target/mean": [0.5, 0.5], "value/target_corr": [NAN, NAN]}))
