from rldebug.evidence.run import Run
from rldebug.rules.value_loss.value_off_target import ValueOffTarget
from tests.judge import fires, not_enough, quiet

N = 60
STUCK = [0.0, -0.3, -0.6] + [-0.9] * (N - 3)


def run(value, target=-4.0, std=1.0, every=16, **more):
    return Run.from_series(
        {"value/mean": value, "target/mean": [target] * N, "target/std": [std] * N, **more}, every=every
    )


def test_fires_when_predictions_stop_short_of_the_targets():
    bounds = {"value/min": [-1.0] * N, "value/max": [-0.8] * N}
    assert "all between -1 and -0.8" in fires(ValueOffTarget(), run(STUCK, **bounds)).seen


def test_quiet_when_predictions_are_still_on_their_way():
    quiet(ValueOffTarget(), run([-0.02 * i for i in range(N)]))


def test_quiet_when_constant_targets_are_nearly_met():
    quiet(ValueOffTarget(), run([0.0] * 5 + [-3.9] * (N - 5), std=0.01))


def test_quiet_when_targets_are_spread_wide():
    quiet(ValueOffTarget(), run(STUCK, std=3.5))


def test_quiet_when_the_learning_rate_was_brought_down_to_nothing():
    quiet(ValueOffTarget(), run(STUCK, **{"optimizer/lr": [1e-3 * 0.9**i for i in range(N)]}))


def test_declines_on_a_short_run():
    not_enough(ValueOffTarget(), run(STUCK, every=1))
