from typing import Any

from rldebug.diagnose import fold
from rldebug.evidence.timing import Held, Timing, Window
from rldebug.rules.performance.graphs_kept_alive import GraphsKeptAlive
from rldebug.rules.performance.part_slows_down import PartSlowsDown
from tests.judge import fires, quiet
from tests.rules.timings import line_of, on, timing

CODE = """
losses = []  # make
while True:
    loss = compute()  # loss
    loss.backward()  # backward
    losses.append(loss)  # append
"""
LOOKS = (2.0, 4.0, 6.0, 8.0, 10.0)


def held(**fields: Any) -> Held:
    usual: dict[str, Any] = {"file": "train.py", "at": LOOKS, "items": (200, 400, 600, 800, 1000), "graphs": 1000}
    return Held("losses", **(usual | fields))


def run(*kept: Held, code: str = CODE, **fields: Any) -> Timing:
    windows = tuple(Window(float(place), 1.0, 1_000, 100) for place in range(10))
    return timing(code, [on("backward", 5.0, part="backward")], held=kept, **({"windows": windows} | fields))


def slowing() -> tuple[Window, ...]:
    return tuple(
        Window(place, 1.0 + 0.2 * place, env_steps=1000, updates=100, parts={"backward": 0.4 + 0.2 * place})
        for place in range(12)
    )


def test_fires_for_losses_that_are_kept_for_a_plot():
    finding = fires(GraphsKeptAlive(), run(held()))
    assert finding.where.line == line_of(CODE, "append")
    assert finding.message == "`losses` keeps the graph of what is put into it"
    assert "1 000 of 1 000 items hold a graph" in finding.seen
    assert (finding.severity, finding.speedup) == ("warning", None)


def test_promises_the_pace_of_the_start_and_tells_of_the_slow_down_once():
    slow = run(held(), windows=slowing())
    finding = fires(GraphsKeptAlive(), slow)
    assert finding.speedup is not None
    assert finding.speedup > 1.3
    found = fold([fires(PartSlowsDown(), slow), finding])
    assert [each.follows for each in found] == [("PRF912",), ()]


def test_quiet_for_detached_losses():
    quiet(GraphsKeptAlive(), run(held(graphs=0)))


def test_quiet_for_log_probs_of_an_episode():
    quiet(GraphsKeptAlive(), run(held(items=(180, 20, 195, 60, 120), graphs=120)))


def test_quiet_for_a_list_that_is_full():
    quiet(GraphsKeptAlive(), run(held(items=(100, 100, 100, 100, 100), graphs=100)))
    sized = CODE.replace("losses = []", "losses = collections.deque(maxlen=2000)").replace(
        "\n", "\nimport collections\n", 1
    )
    quiet(GraphsKeptAlive(), run(held(), code=sized))


def test_fires_after_two_looks_with_many_updates_between_them():
    fires(GraphsKeptAlive(), run(held(at=(2.0, 4.5), items=(200, 450), graphs=450)))


def test_quiet_where_few_updates_were_outlived():
    rollouts = tuple(Window(float(place), 1.0, 1_000, 1) for place in range(10))
    quiet(GraphsKeptAlive(), run(held(), windows=rollouts))
    quiet(GraphsKeptAlive(), run(held(), windows=()))
