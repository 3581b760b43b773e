from rldebug.evidence.run import Run
from rldebug.rules.buffer.batch_never_changes import BatchNeverChanges
from tests.judge import fires, not_enough, quiet

MOVING = [0.5 + i for i in range(20)]
SAME = [12.25] * 20


def batch(fingerprint, **more):
    numbers = {
        "batch/fingerprint": fingerprint,
        "target/std": [1.0] * len(fingerprint),
        "advantage/std": [1.0] * len(fingerprint),
        "rollout/fingerprint": MOVING[: len(fingerprint)],
    }
    return numbers | more


def test_fires_when_rollouts_come_in_and_the_batch_stays():
    found = fires(BatchNeverChanges(), Run.from_series(batch(SAME)))
    assert "12.25" in found.seen
    assert found.severity == "error"


def test_fires_when_a_replay_batch_is_drawn_once():
    fires(BatchNeverChanges(), Run.from_series({"replay/fingerprint": SAME, "replay/duplicates": [0.0] * 20}))


def test_fires_when_a_random_policy_repeats_its_log_probs():
    more = {"rollout/fingerprint": [], "policy/entropy_rel": [0.8] * 20, "policy/kl": [0.01] * 20}
    fires(BatchNeverChanges(), Run.from_series(batch(SAME, **more)))


def test_quiet_when_each_batch_is_a_new_one():
    quiet(BatchNeverChanges(), Run.from_series(batch(MOVING)))


def test_quiet_when_full_batch_epochs_repeat_within_a_rollout():
    numbers = batch([float(i // 5) for i in range(20)])
    quiet(BatchNeverChanges(), Run.from_series(numbers))


def test_quiet_when_targets_are_constant_and_nothing_else_is_handed_over():
    more = {"target/std": [0.0] * 20, "advantage/std": []}
    quiet(BatchNeverChanges(), Run.from_series(batch(SAME, **more)))


def test_quiet_when_a_solved_deterministic_task_repeats_its_returns():
    more = {"rollout/fingerprint": [3.0] * 20, "policy/entropy_rel": [0.01] * 20, "policy/kl": [1e-9] * 20}
    quiet(BatchNeverChanges(), Run.from_series(batch(SAME, **more)))


def test_quiet_when_all_observations_of_a_bandit_are_the_same():
    quiet(BatchNeverChanges(), Run.from_series({"replay/fingerprint": SAME, "replay/duplicates": [1.0] * 20}))


def test_declines_when_nothing_new_was_collected():
    not_enough(BatchNeverChanges(), Run.from_series(batch(SAME), env_steps_per_update=0))


def test_declines_without_any_batch():
    not_enough(BatchNeverChanges(), Run.from_series({"loss/total": [1.0] * 20}))


def test_quiet_when_the_rollouts_repeat_as_well():
    """A settled policy in an environment without chance: every episode is the same one."""
    repeats = MOVING[:5] + [99.0] * 15
    quiet(BatchNeverChanges(), Run.from_series(batch(MOVING[:5] + [12.25] * 15, **{"rollout/fingerprint": repeats})))
