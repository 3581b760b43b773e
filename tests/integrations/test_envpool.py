"""EnvPool, the real one: pools of both kinds seen as they restart; rows that only restart found where learned."""

import numpy as np
import pytest
import torch

from tests.integrations import pages
from tests.integrations.vector_programs import ppo
from tests.watched import findings, watched

envpool = pytest.importorskip("envpool", reason="EnvPool is in the extra `envpool`, which is not installed")

pytestmark = [
    pytest.mark.integration,
    # Its spaces are declared with bounds of doubles.
    pytest.mark.filterwarnings("ignore:.*precision lowered by casting:UserWarning"),
]
KINDS = ("gymnasium", "dm")


def pool(kind="gymnasium", **more):
    settings = {"num_envs": 8, "seed": 1, "max_episode_steps": 12, **more}
    return envpool.make("CartPole-v1", env_type=kind, **settings)


def whole(action):
    return action.astype(np.int32)


def alarms(found):
    return [f"{each.code} {each.message}: {each.seen}" for each in found if each.severity != "note"]


def test_the_example_of_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = pages.run("envpool")
    assert alarms(names["dbg"].report().findings) == []


@pytest.mark.parametrize("seed", [1, 5])
def test_a_sound_program_is_left_in_peace(seed):
    assert alarms(findings(lambda: ppo(pool(seed=seed), "next-step", act=whole))) == []


def test_a_row_that_only_restarts_is_found_where_it_is_learned():
    found = findings(lambda: ppo(pool(max_episode_steps=9), "next-step", bug="phantom", act=whole))
    assert alarms(found)[0].startswith("BUF305")


def test_watching_changes_no_weight():
    alone = ppo(pool(), "next-step", updates=3, act=whole).state_dict()
    made = []
    watched(lambda: made.append(ppo(pool(), "next-step", updates=3, act=whole)))
    assert all(torch.equal(alone[key], each) for key, each in made[0].state_dict().items())


@pytest.mark.parametrize("kind", KINDS)
def test_all_at_once_are_lanes_of_one_stream(kind):
    def play():
        envs = pool(kind)
        envs.reset()
        for _ in range(40):
            envs.step(np.ones(8, np.int32))

    _, script = watched(play)
    (stream,) = script.streams
    assert (stream["kind"], stream["lanes"], stream["autoreset"]) == ("envpool", 8, "next-step")
    assert stream["facts"]["time_limit"] == 12
    assert stream["facts"]["action_n"] == 2
    assert stream["episodes"] > 8
    assert stream["steps"] == 8 * 40 - (stream["episodes"] - over(kind))
    assert stream["stepped_after_end"] == 0


def over(kind):
    """How many episodes end in the very last step: their restart is not played."""
    envs = pool(kind)
    envs.reset()
    for _ in range(40):
        step = envs.step(np.ones(8, np.int32))
    return int((step.step_type == 2).sum()) if kind == "dm" else int((step[2] | step[3]).sum())


def test_some_at_a_time_are_told_apart_by_their_numbers():
    def play():
        envs = pool(batch_size=3)
        envs.async_reset()
        for _ in range(60):
            obs, *_, info = envs.recv()
            envs.send(np.ones(len(obs), np.int32), info["env_id"])

    _, script = watched(play)
    assert len(script.streams) == 8
    assert {each["lanes"] for each in script.streams} == {1}
    assert sum(each["resets"] for each in script.streams) == 8
    assert all(each["episodes"] for each in script.streams)
    assert max(max(each["lengths"]) for each in script.streams) <= 12


def test_a_part_is_reset():
    def play():
        envs = pool()
        envs.reset()
        envs.step(np.ones(8, np.int32))
        envs.reset(np.array([2, 5], np.int32))

    _, script = watched(play)
    assert script.streams[0]["resets"] == 2
