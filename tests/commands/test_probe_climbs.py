"""rldebug probe of several targets: a campaign of climbs."""

import json
from functools import partial
from pathlib import Path

import pytest

from rldebug.campaign import pool
from tests.commands.test_probe import AGENT

WORDS = ("--first", 1, "--seeds", 2)


@pytest.fixture(autouse=True)
def agent(monkeypatch):
    Path("some_agent.py").write_text(AGENT, encoding="utf-8")

    def spreading(jobs, ray):
        def spread(work, tasks):
            for each in tasks:
                if Path("interrupt").exists() and each.target.endswith("blind"):
                    raise KeyboardInterrupt
                yield each, work(each, True)

        return spread

    monkeypatch.setattr("rldebug.integrations.ray.spreading", spreading)


def test_each_target_has_its_ladder_and_all_together_a_table(rldebug):
    said = rldebug("probe", "some_agent.py:sound", "some_agent.py:blind", *WORDS, "--climbs", 2, "--json", "out.json")
    assert said.status == 0, said.out + said.err
    told = json.loads(Path("out.json").read_text(encoding="utf-8"))
    assert list(told["climbs"]) == [
        "some_agent.py:sound from seed 0", "some_agent.py:sound from seed 2",
        "some_agent.py:blind from seed 0", "some_agent.py:blind from seed 2",
    ]  # fmt: skip
    assert told["failed"] == {}
    assert "some_agent.py:blind from seed 2  ✓ 1 passed" in said.out
    assert not list(Path(".rldebug/climbs").glob("*"))  # all is done: the next time it is asked anew


def test_the_same_rungs_decide_alike_alone_and_in_a_campaign(rldebug):
    rldebug(
        "probe", "some_agent.py:blind", "--probes", "observed-reward", "--seeds", 3, "--jobs", 1, "--json", "a.json"
    )
    words = ("--probes", "observed-reward", "--seeds", 3, "--ray", "--json", "b.json")
    said = rldebug("probe", "some_agent.py:blind", *words)
    assert said.status == 1
    alone = json.loads(Path("a.json").read_text(encoding="utf-8"))
    (together,) = json.loads(Path("b.json").read_text(encoding="utf-8"))["climbs"].values()
    for each in (alone, together):
        for rung in each["program"]["rungs"]:
            del rung["seconds"]
    assert together == alone


def test_a_stopped_campaign_goes_on(rldebug):
    Path("interrupt").touch()
    said = rldebug("probe", "some_agent.py:sound", "some_agent.py:blind", *WORDS)
    assert said.status == 130
    assert "1 of 2 climbs are kept" in said.err
    Path("interrupt").unlink()
    said = rldebug("probe", "some_agent.py:sound", "some_agent.py:blind", *WORDS)
    assert said.status == 0
    assert "[1/1] some_agent.py:blind" in said.err


def test_a_page_is_of_one(rldebug):
    said = rldebug("probe", "some_agent.py:sound", "some_agent.py:blind", "--page", "p.html")
    assert said.status == 2
    assert "--page draws one climb" in said.err


@pytest.mark.integration
def test_in_processes_of_their_own(rldebug, monkeypatch):
    monkeypatch.setattr("rldebug.integrations.ray.spreading", lambda jobs, ray: partial(pool.spread, jobs=jobs))
    said = rldebug("probe", "algo:vpg", "algo:a2c", "--first", 1, "--seeds", 1, "--steps", 300)
    assert said.status == 0
    assert "algo:vpg from seed 0" in said.out
    assert "algo:a2c from seed 0" in said.out


@pytest.mark.parametrize("wrong", ["some_agent.py:sond", "none.py:agent", "algo:nothing"])
def test_a_target_that_is_not_there_is_said_before_anything_runs(rldebug, wrong):
    said = rldebug("probe", "some_agent.py:sound", wrong, *WORDS)
    assert said.status == 2
    assert "[1/" not in said.err
