from __future__ import annotations

import pytest

from rldebug.evidence.script import Script
from rldebug.rule import NotEnough
from rldebug.rules.preprocessing.stack_keeps_first_frame import StackKeepsFirstFrame
from tests.programs.data import found as told
from tests.programs.data import seen
from tests.programs.made import script
from tests.watched import watched


def made(*, moved: int, held: int, filled: int = 20, looked: int = 200) -> Script:
    counts = {"looked": looked, "moved": moved, "held": held, "begun": 20, "begun_equal": filled, "carried": 0}
    return script([], [{"shape": [4, 8, 8], "frames": {"length": 4, "equal": 0, **counts}}])


def found(evidence: Script) -> list[object]:
    return list(StackKeepsFirstFrame().check(evidence))


def test_fires_where_only_the_newest_frame_changes() -> None:
    assert len(found(made(moved=20, held=180))) == 1


def test_quiet_where_frames_move_on() -> None:
    assert not found(made(moved=200, held=0))


def test_quiet_on_planes_of_which_one_changes() -> None:
    assert not found(made(moved=0, held=200, filled=0))


def test_nothing_is_said_of_few() -> None:
    with pytest.raises(NotEnough):
        found(made(moved=0, held=9, looked=10))


def test_fires_on_a_program_that_does_so() -> None:
    assert told(StackKeepsFirstFrame(), seen(watched, "pictures", "first frame kept"))


def test_quiet_on_the_same_program_without_it() -> None:
    assert not told(StackKeepsFirstFrame(), seen(watched, "pictures"))
