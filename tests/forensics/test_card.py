"""What a program computes, in words: measured on a program that was watched, and honest about what was not seen."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.forensics.simulated import gae
from tests.programs.actor_critic import script as through_critics
from tests.programs.formula_learners import replays, rollouts
from tests.programs.targets import seen
from tests.watched import watched

from rldebug.evidence.script import Script
from rldebug.forensics.card import card
from rldebug.forensics.program import program_of
from rldebug.render.program import lines


@pytest.fixture(scope="module")
def actor_critic() -> Script:
    return watched(rollouts)[1]


def test_the_formula_with_its_rows_its_residual_and_what_came_next(actor_critic: Script) -> None:
    target = program_of(actor_critic)["targets"][0]
    assert (target["of"], target["kind"]) == ("value", "GAE")
    assert target["gamma"] == pytest.approx(0.97, abs=1e-4)
    assert target["lambda"] == pytest.approx(0.9, abs=1e-3)
    assert target["rows"] > 100
    assert target["residual"] < 1e-5
    assert target["runner_up"]["explained"] < 0.5


@pytest.mark.parametrize("layers", [(), ("q1", "q2")])
def test_which_way_an_actor_learns_from_its_critics(layers: tuple[str, ...]) -> None:
    found = card(through_critics(layers=layers))["policy_loss"]
    assert (found["form"], found["sign"], found["critics"]) == ("value", -1, ["q1", "q2"])
    assert card(through_critics(layers=layers, actor="low"))["policy_loss"]["sign"] == 1
    assert "policy loss: −value of the actor's action, by q1 and q2" in lines({"policy_loss": found})


def test_what_was_not_seen_is_said_and_not_taken_for_fine(actor_critic: Script) -> None:
    streams = {
        key: {**each, "terminations": 0, "truncations": 0} for key, each in actor_critic.things["stream"].items()
    }
    blind = replace(actor_critic, things={**actor_critic.things, "stream": streams}, audits=())
    assert any("by which formula" in each for each in program_of(blind)["undecided"])


def test_truncation_as_termination_is_stated(actor_critic: Script) -> None:
    right = " ".join(lines(program_of(actor_critic)))
    wrong = " ".join(lines(program_of(watched(lambda: rollouts(lambda of: gae(of, truncation="zero")))[1])))
    assert "truncation treated as termination" not in right
    assert "truncation treated as termination" in wrong


def test_a_learner_from_a_replay_has_its_target_network_and_ratio() -> None:
    found = program_of(watched(replays)[1])
    assert found["targets"][0]["of"] == "Q"
    assert found["batches"]["replay_ratio"] > 0
    assert found["target_networks"]
    said = lines(found)
    assert any("learned from" in each for each in said)
    assert any("a copy of" in each for each in said)  # it is never renewed


def test_a_target_network_that_never_changes_is_not_said_to_follow() -> None:
    said = lines(program_of(seen("q_learner", "local name")))
    assert any("did not change in" in each for each in said)
    assert not any(" follows " in each for each in said)
