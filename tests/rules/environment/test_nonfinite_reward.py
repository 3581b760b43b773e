from rldebug.evidence.run import Run
from rldebug.rules.environment.nonfinite_reward import NonfiniteReward
from tests.judge import fires, not_enough, quiet

NAN = float("nan")


def test_fires_when_the_reward_is_the_first_that_is_not_finite():
    run = Run.from_series(
        {
            "reward/mean": [1.0, 1.0, NAN, NAN],
            "value/mean": [0.1, 0.2, 0.2, NAN],
            "target/mean": [0.5, 0.6, NAN, NAN],
            "loss/value": [0.3, 0.3, NAN, NAN],
            "weight/norm": [7.0, 7.0, NAN, NAN],
        }
    )
    finding = fires(NonfiniteReward(), run)
    assert (finding.severity, finding.where.update) == ("error", 2)


def test_fires_when_one_reading_is_all_there_is():
    assert fires(NonfiniteReward(), Run.from_series({"reward/mean": [NAN], "loss/value": [NAN]})).severity == "error"


def test_says_so_when_the_environment_itself_was_fine():
    run = Run.from_series(
        {"episode/reward_sum": [1.0, 1.0], "replay/reward_mean": [1.0, float("inf")], "loss/value": [0.1, NAN]}
    )
    assert "own rewards" in fires(NonfiniteReward(), run).help


def test_only_a_note_when_nothing_that_is_computed_from_it_is_touched():
    run = Run.from_series(
        {"reward/mean": [NAN, NAN, NAN], "loss/value": [0.3, 0.2, 0.1], "weight/norm": [7.0, 7.0, 7.0]}
    )
    assert fires(NonfiniteReward(), run).severity == "note"


def test_quiet_when_the_weights_were_first_and_the_environment_was_fed_nan():
    run = Run.from_series(
        {
            "episode/reward_sum": [1.0, 1.0, NAN],
            "env/action_nonfinite": [0.0, 0.0, 1.0],
            "weight/norm": [7.0, 7.0, NAN],
            "loss/value": [0.1, 0.1, NAN],
        },
        every=16,
    )
    quiet(NonfiniteReward(), run)


def test_quiet_when_all_rewards_are_finite_and_another_stage_is_not():
    quiet(NonfiniteReward(), Run.from_series({"reward/mean": [1.0, 1.0], "loss/value": [0.1, NAN]}))


def test_declines_without_rewards():
    not_enough(NonfiniteReward(), Run.from_series({"loss/value": [0.1, 0.1]}))
