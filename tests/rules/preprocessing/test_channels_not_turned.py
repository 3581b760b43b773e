from __future__ import annotations

import numpy as np
import pytest

from rldebug.evidence.script import Script
from rldebug.rule import NotEnough
from rldebug.rules.preprocessing.channels_not_turned import ChannelsNotTurned
from tests.programs.data import found, seen
from tests.programs.made import call, nodes, script
from tests.watched import watched

RNG = np.random.default_rng(0)


def made(
    match: str, *, shape: tuple[int, ...] = (8, 7, 3), given: tuple[int, ...] = (3, 8, 7), rows: int = 32
) -> Script:
    audits = []
    for _ in range(2):
        obs = RNG.integers(0, 256, (rows, *shape)).astype(np.float64)
        events = [call(0, np.arange(rows), obs / 255, acting=True, match=match, shape=(rows, *given))]
        audits.append((nodes(obs), events))
    return script(audits, [{"shape": list(shape), "dtype": "uint8"}])


@pytest.mark.parametrize("match", ["raw", "scaled"])
def test_fires_where_numbers_keep_their_order(match: str) -> None:
    (finding,) = ChannelsNotTurned().check(made(match))
    assert finding.code == "PRE250"
    assert "in 64 of 64 rows" in finding.seen


def test_quiet_where_the_axis_was_moved() -> None:
    assert not list(ChannelsNotTurned().check(made("channels-first")))


def test_quiet_where_pictures_come_with_their_channels_first_or_have_one() -> None:
    assert not list(ChannelsNotTurned().check(made("scaled", shape=(3, 8, 7))))
    assert not list(ChannelsNotTurned().check(made("scaled", shape=(8, 7, 1), given=(1, 8, 7))))


def test_quiet_where_the_shape_was_left_as_it_is() -> None:
    assert not list(ChannelsNotTurned().check(made("scaled", given=(8, 7, 3))))


def test_says_so_where_there_are_few() -> None:
    with pytest.raises(NotEnough):
        list(ChannelsNotTurned().check(made("scaled", rows=4)))


def test_fires_on_a_program_that_does_so() -> None:
    assert found(ChannelsNotTurned(), seen(watched, "pictures", "cut"))


def test_quiet_on_the_same_program_without_it() -> None:
    assert not found(ChannelsNotTurned(), seen(watched, "pictures"))
