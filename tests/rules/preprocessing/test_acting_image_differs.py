from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from rldebug.evidence.script import Script
from rldebug.rules.preprocessing.acting_image_differs import ActingImageDiffers
from tests.programs.data import found, seen
from tests.programs.made import call, nodes, script
from tests.watched import watched

RNG = np.random.default_rng(0)


def made(act: float, learn: float, acting: str = "channels-first", learning: str = "channels-first") -> Script:
    audits = []
    for _ in range(3):
        obs = RNG.integers(0, 256, (32, 2, 8, 8)).astype(np.float64)
        calls = [
            call(0, np.arange(32), obs * act, acting=True, match=acting),
            call(1, np.arange(32), obs * learn, grad=True, match=learning),
        ]
        audits.append((nodes(obs), calls))
    return script(audits)


def test_fires_where_only_the_learner_forgets_to_scale() -> None:
    (finding,) = ActingImageDiffers().check(made(1 / 255, 1.0))
    assert finding.seen == "elements up to 1 to act, up to 255 to learn"


def test_fires_where_pictures_are_turned_to_act() -> None:
    assert list(ActingImageDiffers().check(made(1.0, 1.0, acting="alias")))


@pytest.mark.parametrize("scale", [1.0, 1 / 255])
def test_quiet_where_both_are_scaled_alike(scale: float) -> None:
    assert not list(ActingImageDiffers().check(made(scale, scale)))


def test_quiet_where_all_pictures_are_changed() -> None:
    assert not list(ActingImageDiffers().check(made(1.0, 1.0, acting="alias", learning="alias")))


def test_fires_on_a_program_that_does_so() -> None:
    assert found(ActingImageDiffers(), seen(watched, "pictures", "turned"))


def test_quiet_on_the_same_program_without_it() -> None:
    assert not found(ActingImageDiffers(), seen(watched, "pictures"))


def beside(parameters: int) -> Script:
    """A part of the network acts on what the whole has scaled; a network that nobody trains is given bytes."""
    audits = []
    for _ in range(3):
        obs = RNG.integers(0, 256, (32, 2, 8, 8)).astype(np.float64)
        calls = [
            call(0, np.arange(32), obs / 255, acting=True, module="net"),
            call(1, np.arange(32), obs, module="slow"),
        ]
        audits.append((nodes(obs), calls))
    made = script(audits)
    modules = {
        "net": {**made.modules["net"], "parameters": 100},
        "slow": {"class": "Net", "owners": {}, "parameters": parameters},
    }
    return dataclasses.replace(made, things={**made.things, "module": modules})


def test_fires_where_the_target_network_is_given_other_pictures() -> None:
    (finding,) = ActingImageDiffers().check(beside(parameters=100))
    assert finding.seen == "elements up to 1 to act, up to 255 to make targets"


def test_quiet_where_the_other_is_no_copy_but_the_whole_around_it() -> None:
    assert not list(ActingImageDiffers().check(beside(parameters=160)))
