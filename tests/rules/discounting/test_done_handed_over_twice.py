from rldebug.evidence.run import Run
from rldebug.rules.discounting.done_handed_over_twice import DoneHandedOverTwice
from tests.judge import fires, not_enough, quiet


def run(both, endings=3.0):
    return Run.from_series(
        {
            "rollout/ends_both": both,
            "rollout/terminated": [endings / 64.0] * len(both),
            "rollout/steps": [64.0] * len(both),
        }
    )


def test_fires_when_every_ending_carries_both_flags():
    fires(DoneHandedOverTwice(), run([1.0] * 8))


def test_quiet_when_one_ending_coincides_with_the_time_limit():
    quiet(DoneHandedOverTwice(), run([0.0, 1.0, 0.0, 0.0, 0.0, 0.0]))


def test_quiet_when_most_endings_carry_both():
    quiet(DoneHandedOverTwice(), run([1.0] * 20 + [0.5]))


def test_declines_on_a_handful_of_endings():
    not_enough(DoneHandedOverTwice(), run([1.0, None, 1.0], endings=1.0))
