from collections.abc import Callable
from dataclasses import replace

import numpy as np

from rldebug.diagnose import fold
from rldebug.evidence.timing import Timing, Window
from rldebug.rules.performance.part_slows_down import PartSlowsDown
from tests.judge import fires, not_enough, quiet
from tests.rules.timings import on, points_at_line, timing

CODE = """
while True:
    env.step(act(obs))  # step
    mean = sum(returns) / len(returns)  # mean
    loss.backward()  # backward
"""


def run(window: Callable[[int], Window], count: int = 12) -> Timing:
    windows = tuple(window(place) for place in range(count))
    seconds = sum(each.seconds for each in windows)
    spent = {name: sum(each.parts.get(name, 0.0) for each in windows) for name in ("other", "backward")}
    slices = [
        on("mean", spent["other"], part="other", before="step", after="step"),
        on("backward", spent["backward"], part="backward"),
    ]
    return timing(CODE, slices, seconds=seconds, windows=windows)


def window(
    place: int,
    *,
    other: float = 0.1,
    simulator: float = 0.5,
    backward: float = 0.4,
    steps: int = 1000,
    updates: int = 100,
) -> Window:
    parts = {"other": other, "simulator": simulator, "backward": backward}
    return Window(float(place), other + simulator + backward, steps, updates, parts)


def test_fires_for_a_mean_over_everything_so_far():
    slow = run(lambda place: window(place, other=0.1 + 0.2 * place))
    finding = points_at_line(PartSlowsDown(), slow, "mean")
    assert finding.message == "the loop itself takes 5.0 times as long as it did"
    assert "rising all the way" in finding.seen
    assert abs(finding.speedup - slow.seconds / 10.8) < 0.01  # the mean costs next to nothing at the very start


def test_fires_though_others_use_the_machine_in_between():
    # Every third stretch has half a core, and does half as much.
    def crowded(place: int) -> Window:
        half = 0.5 if place % 3 == 1 else 1.0
        own = window(place, other=0.1 + 0.2 * place, steps=int(1000 * half), updates=int(100 * half))
        return replace(own, cpu=half * own.seconds)

    points_at_line(PartSlowsDown(), run(crowded), "mean")


def test_fires_for_what_is_done_at_each_update():
    slow = run(lambda place: window(place, backward=0.4 + 0.1 * place))
    finding = points_at_line(PartSlowsDown(), slow, "backward")
    assert "for each update" in finding.seen


def test_fires_as_a_note_where_it_may_be_the_task():
    finding = fires(PartSlowsDown(), run(lambda place: window(place, simulator=0.5 + 0.1 * place)))
    assert finding.severity == "note"
    assert fold([finding])[0].follows == ()


def test_quiet_at_a_steady_pace():
    noise = np.random.default_rng(0).uniform(0.9, 1.1, 12)
    quiet(PartSlowsDown(), run(lambda place: window(place, other=0.3 * noise[place])))


def test_quiet_where_the_whole_machine_slows_down():
    def busier(place: int) -> Window:
        slower = 1.0 + 0.15 * place
        return window(place, other=0.1 * slower, simulator=0.5 * slower, backward=0.4 * slower)

    quiet(PartSlowsDown(), run(busier))


def test_waiting_counts_where_the_workers_compute_ever_more():
    def waits(place: int, more: float) -> Window:
        own = window(place)
        late = 0.1 + 0.2 * place
        parts = {**own.parts, "waiting": late}
        return replace(own, seconds=own.seconds + late, parts=parts, children_cpu=0.2 + more * place)

    quiet(PartSlowsDown(), run(lambda place: waits(place, 0.0)))  # others have the cores
    assert "waiting takes" in fires(PartSlowsDown(), run(lambda place: waits(place, 0.2))).message


def test_fires_though_the_whole_is_shaken():
    shaken = run(lambda place: window(place, other=0.1 + 0.2 * place, simulator=0.5 + 0.6 * (place == 2)))
    points_at_line(PartSlowsDown(), shaken, "mean")


def test_quiet_where_episodes_get_longer():
    # Fewer episodes and so fewer updates in a second; a step takes as long as ever.
    quiet(PartSlowsDown(), run(lambda place: window(place, steps=1000 + 20 * place, updates=100 - 6 * place)))


def test_quiet_where_learning_starts_after_a_warm_up():
    def warmed(place: int) -> Window:
        return window(place) if place >= 6 else window(place, other=0.01, backward=0.0, steps=2000, updates=0)

    quiet(PartSlowsDown(), run(warmed, count=18))


def test_quiet_where_another_phase_begins():
    quiet(PartSlowsDown(), run(lambda place: window(place, other=0.1 if place < 4 else 2.0)))


def test_asks_for_more_of_a_short_run():
    assert "needs 6" in not_enough(PartSlowsDown(), run(lambda place: window(place, other=0.1 + place), count=4))
