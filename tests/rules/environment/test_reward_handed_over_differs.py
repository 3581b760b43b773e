import pytest

from rldebug.evidence.run import Run
from rldebug.rules.environment.reward_handed_over_differs import RewardHandedOverDiffers
from tests.judge import fires, not_enough, quiet

GIVEN = [-310.0, -280.5, -402.25, -199.0, -250.0]


def run(stored, given=GIVEN, steps=None):
    numbers = {
        "episode/reward_sum": given,
        "episode/steps": steps or [64.0] * len(given),
        "rollout/reward_sum": stored,
        "rollout/steps": [64.0] * len(given),
    }
    return Run.from_series(numbers)


def test_fires_as_a_warning_when_the_sign_is_turned():
    found = fires(RewardHandedOverDiffers(), run([-each for each in GIVEN]))
    assert found.severity == "warning"
    assert "opposite sign" in found.message


def test_fires_as_a_note_when_rewards_are_scaled_and_names_the_factor():
    found = fires(RewardHandedOverDiffers(), run([0.1 * each for each in GIVEN]))
    assert found.severity == "note"
    assert "0.1 times" in found.message


def test_fires_as_a_note_when_rewards_are_clipped():
    found = fires(RewardHandedOverDiffers(), run([-64.0, -60.0, -64.0, -41.0, -55.0]))
    assert found.severity == "note"
    assert "no one factor" in found.message


def test_quiet_when_the_sums_agree_up_to_rounding():
    quiet(RewardHandedOverDiffers(), run([each * (1 + 1e-6) for each in GIVEN]))


def test_quiet_when_one_rollout_of_many_was_cut_at_another_step():
    quiet(RewardHandedOverDiffers(), run([*GIVEN[:4], GIVEN[4] + 3.0]))


def test_declines_when_the_steps_never_coincide():
    not_enough(RewardHandedOverDiffers(), run(GIVEN, steps=[640.0] * 5))


@pytest.mark.parametrize("given", [[0.0] * 5, [0.0, 0.0, 1.0, 0.0, 1.0]])
def test_declines_when_there_is_hardly_any_reward(given):
    not_enough(RewardHandedOverDiffers(), run(given, given=given))
