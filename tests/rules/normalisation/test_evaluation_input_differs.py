from __future__ import annotations

import numpy as np
import pytest

from rldebug.evidence.script import Script
from rldebug.rules.normalisation.evaluation_input_differs import EvaluationInputDiffers
from tests.programs.data import found, seen
from tests.programs.made import call, nodes, script
from tests.watched import watched

RNG = np.random.default_rng(0)


def made(factor: float) -> Script:
    """Two environments: one is learned from, in the other the network is only played."""
    audits = []
    for _ in range(3):
        obs = RNG.normal(size=(96, 4))
        stream = np.repeat([0, 1], [64, 32])
        given = obs * np.where(stream == 0, 1.0, factor)[:, None]
        calls = [call(each, np.arange(each, each + 1), given[each : each + 1], acting=True) for each in range(96)]
        audits.append((nodes(obs, stream=stream), calls))
    return script(audits, [{}, {}])


@pytest.mark.parametrize("factor", [40.0, 0.001])
def test_fires_where_the_evaluation_is_not_normalised(factor: float) -> None:
    assert list(EvaluationInputDiffers().check(made(factor)))


@pytest.mark.parametrize("factor", [1.0, 3.0, 0.1])
def test_quiet_where_a_policy_sees_more_or_less_of_the_world(factor: float) -> None:
    assert not list(EvaluationInputDiffers().check(made(factor)))


def test_fires_on_a_program_that_does_so() -> None:
    assert found(EvaluationInputDiffers(), seen(watched, "normalised", "evaluation raw"))


def test_quiet_on_the_same_program_without_it() -> None:
    assert not found(EvaluationInputDiffers(), seen(watched, "normalised"))
