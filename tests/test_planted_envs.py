"""Every planted fault of an environment is named first, and its sound twin is clean."""

from __future__ import annotations

import pytest

from rldebug import catalogue
from rldebug.env import check_env
from tests.planted_envs import names, planted

READ = ("AgentContract", "EnvContract", "EnvPlay")
LITTLE = {"steps": 4000, "seconds": 20.0}


def marked(name):
    marks = [pytest.mark.slow] if getattr(planted(name), "WALL_CLOCK", False) else []
    return pytest.param(name, marks=marks, id=name)


@pytest.mark.parametrize("name", [marked(name) for name in names()])
def test_the_fault_is_named_first(name):
    module = planted(name)
    report = check_env(module.make, **LITTLE)
    assert not report.broken, report.broken
    found = [f"{each.code} {each.message}: {each.seen}" for each in report.findings]
    assert report.roots, "nothing was found"
    assert report.roots[0].code == module.EXPECT, found


@pytest.mark.parametrize("name", names())
def test_the_sound_twin_is_clean(name):
    report = check_env(planted(name).sound, **LITTLE)
    assert not report.broken, report.broken
    assert report.checked
    assert [f"{each.code} {each.message}: {each.seen}" for each in report.findings if each.severity != "note"] == []


def test_every_rule_on_environments_has_its_planted_fault():
    shown = {planted(name).EXPECT for name in names()}
    rules = [each for each in catalogue.rules() if each.reads in READ and each.status == "stable"]
    assert len(rules) > 10
    assert [f"{each.code} {each.name}" for each in rules if each.code not in shown] == []
