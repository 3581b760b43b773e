from __future__ import annotations

from rldebug.evidence.script import Script
from rldebug.rules.preprocessing.frames_of_last_episode import FramesOfLastEpisode
from tests.programs.data import found, seen
from tests.programs.made import script
from tests.watched import watched


def made(*, moved: int, carried: int) -> Script:
    frames = {"length": 4, "looked": 200, "equal": 0, "moved": moved, "begun": 20, "begun_equal": 0, "carried": carried}
    return script([], [{"shape": [8, 8, 4], "frames": frames}])


def test_fires_where_the_stack_is_not_emptied() -> None:
    (finding,) = FramesOfLastEpisode().check(made(moved=200, carried=19))
    assert finding.seen.startswith("19 of 20 first observations")


def test_quiet_where_it_is() -> None:
    assert not list(FramesOfLastEpisode().check(made(moved=200, carried=0)))


def test_quiet_where_only_a_lost_life_ends_an_episode_now_and_then() -> None:
    assert not list(FramesOfLastEpisode().check(made(moved=200, carried=12)))


def test_quiet_on_channels_that_are_no_frames() -> None:
    assert not list(FramesOfLastEpisode().check(made(moved=0, carried=19)))


def test_fires_on_a_program_that_does_so() -> None:
    assert found(FramesOfLastEpisode(), seen(watched, "pictures", "old frames"))


def test_quiet_on_the_same_program_without_it() -> None:
    assert not found(FramesOfLastEpisode(), seen(watched, "pictures"))
