from __future__ import annotations

from typing import Any

import pytest

from rldebug.evidence.script import Script
from rldebug.rules.preprocessing.frames_blank import FramesBlank
from tests.programs.data import found, seen
from tests.programs.made import script
from tests.watched import watched


def made(frames: int = 0, **obs: float) -> Script:
    """With `frames`, a stack of so many equal ones."""
    stack = {"length": frames, "looked": 400, "equal": 400, "moved": 0} if frames else {}
    return script([], [{"shape": [8, 8, 4], "obs": {"looked": 500, **obs}, "frames": stack}])


@pytest.mark.parametrize("obs", [{"blank": 1.0}, {"repeated": 0.99}, {"frames": 4}])
def test_fires_where_nothing_is_to_be_seen(obs: dict[str, Any]) -> None:
    (finding,) = FramesBlank().check(made(**obs))
    assert finding.seen.startswith(("all", "99%"))


@pytest.mark.parametrize("obs", [{"blank": 0.1, "repeated": 0.6}, {"frames": 3}])
def test_quiet_on_slow_games_and_grey_pictures_in_colour(obs: dict[str, Any]) -> None:
    assert not list(FramesBlank().check(made(**obs)))


def test_fires_on_a_program_that_does_so() -> None:
    assert found(FramesBlank(), seen(watched, "pictures", "one array"))


def test_quiet_on_the_same_program_without_it() -> None:
    assert not found(FramesBlank(), seen(watched, "pictures"))
