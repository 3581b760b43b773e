from __future__ import annotations

import numpy as np

from rldebug.evidence.script import Script
from rldebug.rules.normalisation.raw_observation_in_between import RawObservationInBetween
from tests.programs.data import found, seen
from tests.programs.made import call, nodes, script
from tests.watched import watched

RNG = np.random.default_rng(0)


def made(raw: bool) -> Script:
    """Normalised observations; now and then one that is not, or is."""
    audits = []
    for _ in range(3):
        obs = 300 + 5 * RNG.normal(size=(100, 3))
        given = (obs - 300) / 5
        last = np.arange(97, 100)
        calls = [
            call(0, np.arange(97), given[:97], acting=True, match="alias"),
            call(1, last, obs[97:] if raw else given[97:], match="raw"),
        ]
        audits.append((nodes(obs), calls))
    return script(audits)


def test_fires_on_final_observations_as_they_came() -> None:
    (finding,) = RawObservationInBetween().check(made(raw=True))
    assert finding.seen.startswith("9 rows in 3 audits")


def test_quiet_where_they_look_like_the_others() -> None:
    assert not list(RawObservationInBetween().check(made(raw=False)))


def test_fires_on_a_program_that_does_so() -> None:
    assert found(RawObservationInBetween(), seen(watched, "normalised", "final raw"))


def test_quiet_on_the_same_program_without_it() -> None:
    assert not found(RawObservationInBetween(), seen(watched, "normalised"))
