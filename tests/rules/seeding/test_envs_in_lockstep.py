from rldebug.evidence.run import Run
from rldebug.rules.seeding.envs_in_lockstep import EnvsInLockstep
from tests.judge import fires, not_enough, quiet


def run(obs, action, entropy=0.6, **more):
    numbers = {"rollout/lockstep": obs, "rollout/lockstep_actions": action, "policy/entropy": [entropy] * len(obs)}
    return Run.from_series(numbers | more)


def test_fires_when_environments_and_actions_are_copies():
    found = fires(EnvsInLockstep(), run([1.0] * 12, [1.0] * 12))
    assert found.severity == "error"
    assert "12 of 12" in found.seen


def test_fires_when_pairs_of_environments_share_a_seed():
    fires(EnvsInLockstep(), run([0.67] * 12, [0.67] * 12))


def test_fires_when_continuous_actions_are_equal():
    more = {"action/std": [0.8] * 12, "rollout/logp_max": [-0.5] * 12}
    fires(EnvsInLockstep(), run([1.0] * 12, [1.0] * 12, entropy=-0.5, **more))


def test_quiet_when_environments_part():
    quiet(EnvsInLockstep(), run([0.0] * 12, [0.0] * 12))


def test_quiet_when_nothing_depends_on_the_action():
    quiet(EnvsInLockstep(), run([1.0] * 12, [0.0] * 12))


def test_quiet_when_short_episodes_of_a_small_world_coincide_now_and_then():
    quiet(EnvsInLockstep(), run([0.1, 0.0, 0.7, 0.0] * 3, [0.1, 0.0, 0.7, 0.0] * 3))


def test_declines_when_the_policy_is_deterministic():
    not_enough(EnvsInLockstep(), run([1.0] * 12, [1.0] * 12, entropy=0.001))
