"""Bugs planted in the reference algorithms: each fails the rung it should fail first; the right component is blamed."""

import pytest
import torch

from rldebug import catalogue
from rldebug.entry import PREFIXES
from rldebug.evidence.ladder import Ladder
from rldebug.parts import returns
from rldebug.probe import report_on
from rldebug.probes.shelf import probes
from tests.planted_algos import plant
from tests.planted_algos.returns import gae

QUICK = [name for name in plant.bugs() if getattr(plant.bug(name), "QUICK", False)]
NOT_PLANTED = {
    "TGT006": "no bug was found yet that fails noisy-arms and nothing below it",
    "EVA004": "a note about settings, not about a bug",
}
"""Rules that read a ladder and that no planted bug shows as a root: code -> why."""

NO_CONTROL = {"noisy-arms": "returns of three steps, as our DQN has them, never bootstrap there"}
"""Rungs without a bug that fails them first: name -> why."""


def named(name: str, ladder: Ladder) -> None:
    """The rung that fails first, the root finding, and the first suspect."""
    bug = plant.bug(name)
    first = plant.first_trouble(ladder)
    assert first is not None, f"passed: {[each.name for each in ladder.rungs if each.outcome == 'passed']}"
    assert first.name == bug.RUNG, f"{first.name}: {first.reason}"
    report = report_on(ladder)
    assert not report.broken
    assert bug.EXPECT in [each.code for each in report.roots], [(each.code, each.seen) for each in report.findings]
    accepted = {bug.SUSPECT, *getattr(bug, "ALSO", ())}
    assert report.suspects[0].component in accepted, report.suspects


# ── planting ──


@pytest.mark.parametrize("name", plant.bugs())
def test_bug_can_be_planted_and_says_what_it_is(name):
    bug = plant.bug(name)
    assert len((bug.__doc__ or "").split()) >= 4
    assert bug.RUNG in [each.name for each in probes()]
    assert bug.EXPECT in [each.code for each in catalogue.rules() if each.reads == "Ladder"]
    assert {bug.SUSPECT, *getattr(bug, "ALSO", {})} <= set(PREFIXES.values())
    assert all(len(reason.split()) >= 4 for reason in getattr(bug, "ALSO", {}).values())
    if not hasattr(bug, "AGENT"):
        assert hasattr(plant.planted(bug.ALGO, getattr(bug, "REPLACE", ()), getattr(bug, "PATCH", {})), "train")


def test_every_rung_has_a_bug_that_fails_it_first():
    controls = {plant.bug(name).RUNG for name in plant.bugs() if getattr(plant.bug(name), "CONTROLS", False)}
    assert {each.name for each in probes()} - controls == NO_CONTROL.keys()


def test_every_rule_that_reads_a_ladder_is_shown_by_a_bug():
    expected = {plant.bug(name).EXPECT for name in plant.bugs()}
    rules = {each.code for each in catalogue.rules() if each.reads == "Ladder"}
    assert rules - expected == NOT_PLANTED.keys()


def test_planting_changes_nothing_for_others():
    bug = plant.bug("ppo_parts_not_multiplied")
    before = plant.text_of("rldebug.parts.distributions")
    planted = plant.planted(bug.ALGO, (), bug.PATCH)
    import rldebug.parts.heads

    assert planted.Output is not rldebug.parts.heads.Output
    assert plant.text_of("rldebug.parts.distributions") == before


def test_gae_step_by_step_is_right_without_a_switch():
    torch.manual_seed(0)
    reward, value, final = torch.randn(3, 12, 4)
    terminated, truncated = torch.rand(2, 12, 4) < 0.2
    rest = {"last_value": torch.randn(4), "final_value": final, "gamma": 0.9, "lam": 0.8}
    mine, theirs = (
        gae(reward, value, terminated, truncated, **rest),
        returns.gae(reward, value, terminated, truncated, **rest),
    )
    for ours, right in zip(mine, theirs, strict=True):
        torch.testing.assert_close(ours, right, rtol=1e-4, atol=1e-5)


# ── climbing ──


@pytest.mark.parametrize("name", QUICK)
def test_bug_is_named_on_its_first_rungs(name):
    bug = plant.bug(name)
    named(name, plant.ladder_of(plant.target_of(bug), dict.fromkeys((*plant.upto(bug.RUNG), "action-reward"))))


def test_the_twin_without_a_bug_passes_where_the_bugs_fail():
    rungs = sorted({plant.bug(name).RUNG for name in QUICK if plant.bug(name).ALGO == "ppo"})
    ladder = plant.ladder_of(plant.twin_of(plant.bug(QUICK[0])), rungs)
    assert {each.name: each.outcome for each in ladder.rungs} == dict.fromkeys(rungs, "passed")
    assert report_on(ladder).clean


@pytest.mark.slow
@pytest.mark.parametrize("name", plant.bugs())
def test_bug_is_named(name):
    bug = plant.bug(name)
    named(name, plant.ladder_of(plant.target_of(bug), plant.telling(bug)))
