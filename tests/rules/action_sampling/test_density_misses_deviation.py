"""log σ in the log-prob of a Gaussian."""

from __future__ import annotations

import numpy as np
import pytest

from rldebug.evidence.script import Script
from rldebug.rule import NotEnough
from rldebug.rules.action_sampling.density_misses_deviation import DensityMissesDeviation
from tests.programs.losses_made import script, term


def made(factor: float, learned: bool = True) -> Script:
    audits = []
    for number in range(8):
        draw = np.random.default_rng(number)
        mean = draw.normal(size=(32, 2))
        std = np.full((32, 2), 0.6 + 0.01 * number * learned)
        z = draw.normal(size=(32, 2))
        logp = (-0.5 * z**2 - factor * np.log(std)).sum(axis=1)
        policy = term(1, number, family="normal", logp=logp, action=mean + std * z, mean=mean, std=std)
        audits.append([[policy]])
    return script(audits)


@pytest.mark.parametrize(("factor", "told"), [(0.0, "lacks"), (2.0, "2 times"), (-1.0, "-1 times")])
def test_fires_another_factor_is_found(factor: float, told: str) -> None:
    assert told in next(iter(DensityMissesDeviation().check(made(factor)))).message


def test_quiet_the_density_of_a_gaussian_is_fine() -> None:
    assert list(DensityMissesDeviation().check(made(1.0))) == []


def test_quiet_a_deviation_that_is_not_learned_may_be_left_out() -> None:
    with pytest.raises(NotEnough):
        list(DensityMissesDeviation().check(made(0.0, learned=False)))
