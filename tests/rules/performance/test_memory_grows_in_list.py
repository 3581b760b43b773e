from typing import Any

import pytest

from rldebug.evidence.timing import Held, Timing, Window
from rldebug.rules.performance.memory_grows_in_list import MemoryGrowsInList
from tests.judge import fires, quiet
from tests.rules.timings import line_of, on, timing

MB = 2**20
CODE = """
frames = []
while True:
    obs = step()  # step
    frames.append(obs)  # append
"""
METHOD = """
class Agent:
    def __init__(self):
        self.memory = []

    def remember(self, row):
        self.memory.append(row)  # append

while True:
    agent.remember(step())  # step
"""
BOUNDED = {
    "deque": "import collections\nframes = collections.deque(maxlen=100_000)\nframes.append(obs)  # step\n",
    "popped": "frames = []\nframes.append(obs)  # step\nif len(frames) > 9: frames.pop(0)\n",
    "cleared": "frames = []\nframes.append(obs)  # step\nframes.clear()\n",
    "made anew": "while True:\n    frames = []\n    frames.append(obs)  # step\n",
    "asked": "frames = []\nif len(frames) < 100_000:\n    frames.append(obs)  # step\n",
    "circle": "frames = []\nframes.append(None)  # step\nframes[place] = obs\n",
    "cut": "frames = []\nframes.append(obs)  # step\ndel frames[:100]\n",
    "library": "model.learn(10)  # step\n",
}


def held(name: str = "frames", megabytes: tuple[int, ...] = (20, 40, 60, 80, 100), **fields: Any) -> Held:
    usual: dict[str, Any] = {
        "at": tuple(20.0 * place for place in range(1, len(megabytes) + 1)),
        "items": tuple(100 * each for each in megabytes),
        "bytes": tuple(MB * each for each in megabytes),
    }
    return Held(name, "train.py", **(usual | fields))


def run(kept: Held, code: str = CODE, **fields: Any) -> Timing:
    return timing(code, [on("step", 1.0)], held=(kept,), **fields)


def test_fires_for_a_list_that_nobody_empties():
    finding = fires(MemoryGrowsInList(), run(held()))
    assert finding.message == "`frames` is only ever added to"
    assert finding.where.line == line_of(CODE, "append")
    assert "2 000 items at the first look, 10 000 at the last, 100 MB; 3.5 GB more in an hour" in finding.seen
    assert (finding.severity, finding.speedup) == ("warning", None)


def test_fires_for_an_attribute_that_a_method_appends_to():
    assert fires(MemoryGrowsInList(), run(held("agent.memory"), METHOD)).where.line == line_of(METHOD, "append")


def test_fires_for_a_list_in_a_dictionary():
    code = CODE.replace("frames = []", 'logs = {"frames": []}').replace("frames.append", 'logs["frames"].append')
    assert fires(MemoryGrowsInList(), run(held("logs['frames']"), code)).where.line == line_of(code, "append")


def test_fires_as_a_note_for_a_good_part_of_a_slow_growth():
    windows = (Window(0, 50, resident=500 * MB), Window(50, 50, resident=540 * MB))
    slow = held(megabytes=(4, 8, 12, 16, 20), at=(100.0, 200.0, 300.0, 400.0, 500.0))
    finding = fires(MemoryGrowsInList(), run(slow, windows=windows))
    assert finding.severity == "note"
    assert "the process grew by 40 MB" in finding.seen


def test_fires_after_one_look_where_it_is_what_the_process_grew_by():
    rising = tuple(Window(place, 1.0, resident=(300 + 100 * place) * MB) for place in range(6))
    finding = fires(MemoryGrowsInList(), run(held(megabytes=(480,), at=(5.0,)), windows=rising))
    assert finding.seen.startswith("48 000 items, 480 MB; 337.5 GB more in an hour; the process grew by 500 MB")


def test_quiet_after_one_look_at_what_was_loaded_at_the_start():
    level = tuple(Window(place, 1.0, resident=800 * MB) for place in range(6))
    quiet(MemoryGrowsInList(), run(held(megabytes=(480,), at=(5.0,)), windows=level))


@pytest.mark.parametrize("way", BOUNDED)
def test_quiet_where_the_text_bounds_it(way):
    quiet(MemoryGrowsInList(), run(held(), BOUNDED[way]))


def test_quiet_where_it_levels_out():
    quiet(MemoryGrowsInList(), run(held(megabytes=(40, 80, 99, 100, 100))))


def test_quiet_where_it_is_emptied_now_and_then():
    quiet(MemoryGrowsInList(), run(held(megabytes=(20, 90, 30, 80, 100))))


def test_quiet_for_small_growth_and_few_looks():
    quiet(MemoryGrowsInList(), run(held(megabytes=(1, 2, 3, 4, 5))))
    quiet(MemoryGrowsInList(), run(held(megabytes=(20, 100))))


def test_quiet_for_a_small_part_of_what_grows():
    windows = (Window(0, 50, resident=500 * MB), Window(50, 50, resident=2000 * MB))
    quiet(MemoryGrowsInList(), run(held(megabytes=(4, 8, 12, 16, 20)), windows=windows))
