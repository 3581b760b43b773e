from rldebug.evidence.run import Run
from rldebug.rules.buffer.rollout_never_changes import RolloutNeverChanges
from tests.judge import fires, not_enough, quiet

MOVING = [0.5 + i for i in range(10)]


def run(obs, action, **more):
    numbers = {"rollout/fingerprint": obs, "action/fingerprint": action, "rollout/steps": [256.0] * 10, **more}
    return Run.from_series(numbers)


RANDOM = {"policy/entropy": [0.6] * 10}


def test_fires_when_observations_and_sampled_actions_repeat():
    found = fires(RolloutNeverChanges(), run([7.5] * 10, [1.5] * 10, **RANDOM))
    assert "10 recorded rollouts" in found.seen


def test_fires_when_the_rollout_freezes_later_on():
    found = fires(RolloutNeverChanges(), run([*MOVING[:5], *[7.5] * 5], [*MOVING[:5], *[1.5] * 5], **RANDOM))
    assert found.where.update == 5


def test_fires_when_continuous_actions_repeat():
    more = {"action/std": [0.9] * 10, "rollout/logp_max": [-0.1] * 10}
    fires(RolloutNeverChanges(), run([7.5] * 10, [1.5] * 10, **more))


def test_quiet_when_every_rollout_is_new():
    quiet(RolloutNeverChanges(), run(MOVING, MOVING, **RANDOM))


def test_quiet_when_a_fixed_set_of_contexts_is_answered_anew():
    quiet(RolloutNeverChanges(), run([7.5] * 10, MOVING, **RANDOM))


def test_quiet_when_a_deterministic_policy_repeats_itself():
    quiet(RolloutNeverChanges(), run([7.5] * 10, [1.5] * 10, **{"policy/entropy": [0.001] * 10}))


def test_quiet_when_nothing_says_that_actions_are_drawn():
    quiet(RolloutNeverChanges(), run([7.5] * 10, [1.5] * 10))


def test_declines_on_a_few_rollouts():
    numbers = {"rollout/fingerprint": [7.5] * 3, "action/fingerprint": [1.5] * 3}
    not_enough(RolloutNeverChanges(), Run.from_series(numbers))
