from rldebug.evidence.run import Run
from rldebug.rules.target_network.target_always_equal import TargetAlwaysEqual
from tests.judge import fires, not_enough, quiet

N = 30
MOVES = [6.5 + 0.01 * i for i in range(N)]


def run(distance, mark, every=4):
    return Run.from_series({"target_net/distance": distance, "target_net/fingerprint": mark}, every=every)


def test_fires_when_both_move_as_one():
    fires(TargetAlwaysEqual(), run([0.0] * N, MOVES))


def test_quiet_when_the_distance_is_small_but_real():
    quiet(TargetAlwaysEqual(), run([0.0] + [1e-4] * (N - 1), MOVES))


def test_quiet_when_some_readings_follow_a_copy():
    quiet(TargetAlwaysEqual(), run([0.0, 0.01, 0.0] * (N // 3), MOVES))


def test_quiet_when_nothing_moves_at_all():
    quiet(TargetAlwaysEqual(), run([0.0] * N, [6.5] * N))


def test_declines_on_the_first_updates():
    not_enough(TargetAlwaysEqual(), run([0.0] * N, MOVES, every=1))
