from rldebug.evidence.run import Run
from rldebug.rules.target_network.target_never_updated import TargetNeverUpdated
from tests.judge import fires, not_enough, quiet

N = 80
GROWS = [0.005 * i for i in range(N)]


def run(mark, distance, every=32):
    return Run.from_series({"target_net/fingerprint": mark, "target_net/distance": distance}, every=every)


def test_fires_when_the_online_network_leaves_a_target_that_never_moves():
    assert "38%" in fires(TargetNeverUpdated(), run([6.5] * N, GROWS)).seen


def test_quiet_when_the_target_moves_at_long_intervals():
    quiet(TargetNeverUpdated(), run([6.5] * 60 + [6.7] * 20, GROWS))


def test_quiet_when_neither_moves():
    quiet(TargetNeverUpdated(), run([6.5] * N, [0.0] * N))


def test_declines_on_a_run_shorter_than_common_intervals():
    not_enough(TargetNeverUpdated(), run([6.5] * N, GROWS, every=16))


def test_fires_when_the_target_was_never_a_copy():
    found = fires(TargetNeverUpdated(), run([6.5] * N, [1.4] * N, every=4))
    assert "no copy" in found.message


def test_quiet_when_a_stranger_is_copied_over_later():
    quiet(TargetNeverUpdated(), run([6.5] * 10 + [7.5] * 70, [1.4] * 10 + [0.1] * 70))
