from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rldebug.evidence.script import Script
from rldebug.rule import NotEnough
from rldebug.rules.normalisation.first_observation_unscaled import FirstObservationUnscaled
from tests.capture.test_matching import scaling
from tests.programs.made import call, nodes, script
from tests.watched import watched

RNG = np.random.default_rng(0)
SCALE = np.array([1.0, 1.0, 0.125])


def made(raw: bool, every: bool = False) -> Script:
    """Elements are scaled one by one; the first of each twenty observations begins an episode."""
    audits = []
    for _ in range(3):
        obs = RNG.normal(size=(100, 3)).astype(np.float32)
        first = np.arange(100) % 20 == 0
        given = (obs * SCALE).astype(np.float32)
        if raw:
            given[first] = obs[first]
        if every:
            given[:] = obs
        calls = [call(0, np.arange(100), given, match="alias")]
        audits.append((replace(nodes(obs), first=first), calls))
    return script(audits)


def check(evidence: Script) -> list[object]:
    return list(FirstObservationUnscaled().check(evidence))


def test_fires_where_episodes_begin_with_the_observation_as_it_came() -> None:
    (finding,) = FirstObservationUnscaled().check(made(raw=True))
    assert finding.seen.startswith("5 observations that begin an episode are given as they came: element 2")


def test_quiet_where_all_are_scaled() -> None:
    assert not check(made(raw=False))


def test_nothing_is_said_where_none_are() -> None:
    with pytest.raises(NotEnough):
        check(made(raw=False, every=True))


def test_fires_on_a_program_that_does_so() -> None:
    assert check(watched(lambda: scaling(raw_first=True))[1])


def test_quiet_on_the_same_program_without_it() -> None:
    assert not check(watched(scaling)[1])
