from __future__ import annotations

import numpy as np

from rldebug.evidence.script import Script
from rldebug.rules.normalisation.normalised_input_explodes import NormalisedInputExplodes
from tests.programs.data import found, seen
from tests.programs.made import call, nodes, script
from tests.watched import watched

RNG = np.random.default_rng(0)


def made(spike: float) -> Script:
    obs = RNG.normal(size=(64, 4))
    given = obs.copy()
    given[40, 2] = spike
    limits = {"count": 64, "low": obs.min(0).tolist(), "high": obs.max(0).tolist()}
    calls = [call(0, np.arange(64), given, acting=True, match="alias")]
    return script([(nodes(obs), calls)] * 2, [{"obs": limits}])


def test_fires_where_a_deviation_was_zero() -> None:
    (finding,) = NormalisedInputExplodes().check(made(1e8))
    assert finding.seen.startswith("element 2")


def test_quiet_where_inputs_are_clipped() -> None:
    assert not list(NormalisedInputExplodes().check(made(10.0)))


def test_fires_on_a_program_that_does_so() -> None:
    assert found(NormalisedInputExplodes(), seen(watched, "normalised", "tiny deviation"))


def test_quiet_on_the_same_program_without_it() -> None:
    assert not found(NormalisedInputExplodes(), seen(watched, "normalised"))
