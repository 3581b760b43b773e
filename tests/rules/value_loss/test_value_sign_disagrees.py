from rldebug.evidence.run import Run
from rldebug.rules.value_loss.value_sign_disagrees import ValueSignDisagrees
from tests.judge import fires, not_enough, quiet

N = 40


def run(value, target, reward=(0.0, 1.0), every=16):
    def family(name, low, mean, high):
        return {f"{name}/min": [low] * N, f"{name}/mean": [mean] * N, f"{name}/max": [high] * N}

    rewards = {"reward/min": [reward[0]] * N, "reward/max": [reward[1]] * N} if reward else {}
    return Run.from_series({**family("value", *value), **family("target", *target), **rewards}, every=every)


def test_fires_when_positive_rewards_have_negative_values():
    fires(ValueSignDisagrees(), run(value=(-9.0, -5.0, -1.0), target=(1.0, 5.0, 9.0)))


def test_fires_when_negative_rewards_have_positive_values():
    fires(ValueSignDisagrees(), run(value=(1.0, 5.0, 9.0), target=(-9.0, -5.0, -1.0), reward=(-1.0, 0.0)))


def test_quiet_when_values_are_small_and_negative():
    quiet(ValueSignDisagrees(), run(value=(-0.2, -0.1, -0.05), target=(1.0, 5.0, 9.0)))


def test_quiet_when_predictions_are_standardised():
    quiet(ValueSignDisagrees(), run(value=(-2.0, -1.1, 1.5), target=(1.0, 5.0, 9.0)))


def test_quiet_when_rewards_have_both_signs():
    quiet(ValueSignDisagrees(), run(value=(-9.0, -5.0, -1.0), target=(1.0, 5.0, 9.0), reward=(-1.0, 1.0)))


def test_quiet_when_targets_are_negative_as_well():
    quiet(ValueSignDisagrees(), run(value=(-9.0, -5.0, -1.0), target=(-9.0, -5.0, -1.0)))


def test_quiet_when_values_run_away_which_is_another_fault():
    quiet(ValueSignDisagrees(), run(value=(-9e4, -5e4, -1e4), target=(1.0, 5.0, 9.0)))


def test_declines_without_rewards():
    not_enough(ValueSignDisagrees(), run(value=(-9.0, -5.0, -1.0), target=(1.0, 5.0, 9.0), reward=None))
