from __future__ import annotations

import numpy as np
import pytest

from rldebug.evidence.script import Script
from rldebug.rule import NotEnough
from rldebug.rules.normalisation.acting_input_differs import ActingInputDiffers
from tests.programs.data import found, seen
from tests.programs.made import call, nodes, script
from tests.watched import watched

RNG = np.random.default_rng(0)


def made(learned: float, match: str) -> Script:
    """Acts on observations as they came; learns from them times a factor."""
    audits = []
    for _ in range(4):
        obs = RNG.normal(size=(64, 4))
        rows = np.arange(64) if match == "raw" else np.full(64, -1)
        audits.append(
            (
                nodes(obs),
                [call(0, np.arange(64), obs, acting=True), call(1, rows, obs * learned, grad=True, match=match)],
            )
        )
    return script(audits)


def test_fires_where_the_replay_is_of_another_scale() -> None:
    (finding,) = ActingInputDiffers().check(made(30.0, "none"))
    assert "4 of 4 elements" in finding.seen


def test_quiet_where_statistics_have_moved_a_little() -> None:
    assert not list(ActingInputDiffers().check(made(1.3, "none")))


def test_quiet_where_both_are_the_same() -> None:
    assert not list(ActingInputDiffers().check(made(1.0, "raw")))


def copied(acted: float, kind: str) -> Script:
    """A copy acts, to which no optimizer belongs; the network itself learns from observations as they came."""
    audits = []
    for _ in range(4):
        obs, rows = RNG.normal(size=(64, 4)), np.arange(64)
        match = "raw" if acted == 1.0 else "alias"
        acts = call(0, rows, obs * acted, module="copy", acting=True, match=match)
        audits.append((nodes(obs), [acts, call(1, rows, obs, grad=True)]))
    made = script(audits)
    made.things["module"]["copy"] = {"class": kind, "owners": {}, "layers": {"Linear": 2}, "inside": None}
    return made


def test_fires_where_a_copy_of_the_network_acts_on_another_scale() -> None:
    assert list(ActingInputDiffers().check(copied(0.05, "Net")))


def test_quiet_where_a_copy_acts_on_the_same() -> None:
    assert not list(ActingInputDiffers().check(copied(1.0, "Net")))


def test_quiet_where_what_acts_is_another_network() -> None:
    with pytest.raises(NotEnough):
        list(ActingInputDiffers().check(copied(0.05, "Opponent")))


def test_fires_on_a_program_that_does_so() -> None:
    assert found(ActingInputDiffers(), seen(watched, "normalised", "learner raw"))


def test_quiet_on_the_same_program_without_it() -> None:
    assert not found(ActingInputDiffers(), seen(watched, "normalised"))


def once(learned: float, apart: bool = False) -> Script:
    """Two audits with 160 observations each, which are scaled to act; the same ones, or others, are learned from."""
    audits = []
    for _ in range(2):
        obs, rows = RNG.normal(size=(320, 4)) * 30.0, np.arange(160)
        after = rows + 160 if apart else rows
        match = "raw" if learned == 1.0 else "alias"
        acts = call(0, rows, obs[rows] / 30.0, acting=True, match="alias")
        audits.append((nodes(obs), [acts, call(1, after, obs[after] * learned, grad=True, match=match)]))
    return script(audits)


def test_fires_on_two_audits_with_the_same_observations() -> None:
    assert list(ActingInputDiffers().check(once(1.0)))


def test_quiet_on_two_audits_with_other_observations() -> None:
    assert not list(ActingInputDiffers().check(once(1.0, apart=True)))


def test_quiet_on_two_audits_where_both_are_scaled() -> None:
    assert not list(ActingInputDiffers().check(once(1 / 30.0)))
