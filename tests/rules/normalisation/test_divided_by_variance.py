from __future__ import annotations

import numpy as np
import pytest

from rldebug.evidence.script import Script
from rldebug.rules.normalisation.divided_by_variance import DividedByVariance
from tests.judge import fires, not_enough, quiet
from tests.programs.data import found, seen
from tests.programs.made import call, nodes, script
from tests.watched import watched


def made(power: float, scale: tuple[float, ...] = (300.0, 120.0), drift: float = 0.05, audits: int = 5) -> Script:
    """Observations that are divided by a power of their deviation, which is still settling."""
    rng, found = np.random.default_rng(0), []
    for number in range(audits):
        obs = rng.normal(size=(256, len(scale))) * scale
        deviation = np.array(scale) * (1 + drift / (1 + number))
        found.append((nodes(obs), [call(0, np.arange(256), obs / deviation**power, match="alias", acting=True)]))
    return script(found)


@pytest.mark.parametrize("scale", [(300.0, 120.0), (0.1, 0.02), (300.0, 250.0, 280.0)])
def test_fires_on_the_variance(scale: tuple[float, ...]) -> None:
    fires(DividedByVariance(), made(2.0, scale))


@pytest.mark.parametrize("power", [0.0, 1.0, 3.0])
def test_quiet_on_the_deviation_and_on_nothing_of_it(power: float) -> None:
    quiet(DividedByVariance(), made(power))


def test_quiet_where_both_are_about_the_same() -> None:
    quiet(DividedByVariance(), made(2.0, (1.5, 0.8)))


def test_quiet_on_constants() -> None:
    quiet(DividedByVariance(), made(2.0, drift=0.0))


def test_declines_after_two_audits() -> None:
    not_enough(DividedByVariance(), made(2.0, audits=2))


def test_fires_on_a_program_that_does_so() -> None:
    assert found(DividedByVariance(), seen(watched, "normalised", "variance"))


def test_quiet_on_the_same_program_without_it() -> None:
    quiet(DividedByVariance(), seen(watched, "normalised"))


def settled(power: float, scale: tuple[float, ...]) -> Script:
    """Deviations near 1, which the environments have counted over the whole run."""
    bare = made(power, scale, audits=8)
    stream = {"index": 0, "name": "Made", "lanes": 1, "obs": {"std": list(scale)}, "learned": 64, "steps": 2000}
    return Script(bare.audits, {**bare.things, "stream": {"0": {**bare.streams[0], **stream}}}, bare.notes, bare.meta)


def test_fires_where_deviations_are_near_one_and_differ() -> None:
    fires(DividedByVariance(), settled(2.0, (3.0, 0.4, 2.5)))


@pytest.mark.parametrize("power", [0.0, 1.0])
def test_quiet_there_on_the_deviation(power: float) -> None:
    quiet(DividedByVariance(), settled(power, (3.0, 0.4, 2.5)))


def running(power: float, scale: tuple[float, ...] = (300.0, 0.1, 20.0), clip: float = 1e9) -> Script:
    """One audit, the first: Welford's statistics of all observations so far, as the program keeps them."""
    rng = np.random.default_rng(0)
    obs = (rng.normal(size=(400, len(scale))) + 2.0) * scale
    mean, squares, entered = np.zeros(len(scale)), np.zeros(len(scale)), []
    for count, each in enumerate(obs, start=1):
        away = each - mean
        mean = mean + away / count
        squares = squares + away * (each - mean)
        entered.append(np.clip((each - mean) / ((squares / count) ** power + 1e-6), -clip, clip))
    rows = np.arange(400)
    return script([(nodes(obs), [call(0, rows, np.array(entered), match="alias", acting=True)])])


@pytest.mark.parametrize("clip", [1e9, 8.0])
def test_fires_on_one_audit_whose_statistics_can_be_worked_out(clip: float) -> None:
    fires(DividedByVariance(), running(1.0, clip=clip))


@pytest.mark.parametrize("power", [0.0, 0.5, 0.75, 1.5])
def test_declines_there_on_any_other_power(power: float) -> None:
    not_enough(DividedByVariance(), running(power))


def test_declines_there_where_deviations_are_about_one() -> None:
    not_enough(DividedByVariance(), running(1.0, (1.2, 0.8, 1.0)))


def wrapped(power: float) -> Script:
    """A layer around the environment shows what was scaled already; its arrays were read twice."""
    rng, scale = np.random.default_rng(0), np.array([300.0, 0.05, 4.0])
    audits = []
    for _ in range(2):
        shown = rng.normal(size=(128, 3)) * scale ** (1 - 2 * power)
        audits.append((nodes(shown), [call(0, np.arange(128), shown, acting=True)]))
    bare = script(audits, [{"learned": 64}])
    notes = [
        {
            "kind": "normalisers",
            "own": [
                {
                    "stream": 0,
                    "what": "Scaled",
                    "path": "",
                    "arrays": {"mu": [1.0, 2.0, 3.0 + count], "sq": (scale**2 * count * 1.01).tolist()},
                    "counts": {"n": float(count)},
                }
            ],
        }
        for count in (100, 1000)
    ]
    return Script(bare.audits, bare.things, notes, bare.meta)


def test_fires_where_a_layer_shows_one_over_what_it_keeps() -> None:
    fires(DividedByVariance(), wrapped(1.0))


def test_declines_where_a_layer_shows_a_deviation_of_one() -> None:
    not_enough(DividedByVariance(), wrapped(0.5))
