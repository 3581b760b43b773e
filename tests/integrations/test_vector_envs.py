"""Gymnasium's vectors in every way they restart: sound programs left in peace, what users get wrong there named."""

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

from tests.integrations import pages
from tests.integrations.vector_programs import cart_poles, ppo
from tests.watched import findings, watched

pytestmark = pytest.mark.integration
MODES = {
    "next-step": AutoresetMode.NEXT_STEP,
    "same-step": AutoresetMode.SAME_STEP,
    "disabled": AutoresetMode.DISABLED,
}


def alarms(found):
    return [f"{each.code} {each.message}: {each.seen}" for each in found if each.severity != "note"]


def test_the_example_of_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = pages.run("gymnasium")
    assert alarms(names["dbg"].report().findings) == []


@pytest.mark.parametrize("restarts", MODES)
def test_a_sound_program_is_left_in_peace(restarts):
    assert alarms(findings(lambda: ppo(cart_poles(SyncVectorEnv, MODES[restarts]), restarts, seed=1))) == []


@pytest.mark.parametrize("restarts", ["next-step", "same-step"])
def test_so_is_one_whose_environments_are_in_workers(restarts):
    envs = cart_poles(AsyncVectorEnv, MODES[restarts], many=2, context="fork")
    assert alarms(findings(lambda: ppo(envs, restarts, updates=4, steps=128, seed=1))) == []


def test_so_is_one_behind_wrappers_that_count_and_normalise():
    envs = gym.wrappers.vector.RecordEpisodeStatistics(cart_poles(SyncVectorEnv, AutoresetMode.NEXT_STEP))
    assert alarms(findings(lambda: ppo(gym.wrappers.vector.NormalizeObservation(envs), "next-step", seed=1))) == []


def test_the_step_that_only_restarts_is_found_among_what_is_learned():
    envs = cart_poles(SyncVectorEnv, AutoresetMode.NEXT_STEP, limit=9)
    found = findings(lambda: ppo(envs, "next-step", bug="phantom", seed=1))
    assert alarms(found)[0].startswith("BUF305")
    assert found[0].component == "buffer"


def test_a_bootstrap_from_the_reset_is_found():
    """The value of the last observation is never computed: that of the first of the next episode is in the targets."""
    found = findings(lambda: ppo(cart_poles(SyncVectorEnv, AutoresetMode.SAME_STEP), "same-step", bug="reset", seed=1))
    assert alarms(found)[0].startswith("DIS303")


@pytest.mark.parametrize("restarts", MODES)
def test_watching_changes_no_weight(restarts):
    alone = ppo(cart_poles(SyncVectorEnv, MODES[restarts]), restarts, updates=3, seed=3).state_dict()
    made = []
    watched(lambda: made.append(ppo(cart_poles(SyncVectorEnv, MODES[restarts]), restarts, updates=3, seed=3)))
    assert all(torch.equal(alone[key], each) for key, each in made[0].state_dict().items())


class Untold(gym.vector.VectorEnv):
    """Restarts within the step, hands over the last observation, and does not say so in its metadata."""

    metadata = {}  # noqa: RUF012
    num_envs = 4
    single_observation_space = gym.spaces.Box(-5, 5, (1,), np.float32)
    single_action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        self.at = np.arange(4, dtype=np.float32)[:, None]
        return self.at.copy(), {}

    def step(self, actions):
        self.at = self.at + 1
        done = self.at[:, 0] > 4
        infos = [
            {"terminal_observation": each.copy()} if over else {} for each, over in zip(self.at, done, strict=True)
        ]
        self.at[done] = 0.5
        return self.at.copy(), np.ones(4), done, np.zeros(4, bool), infos


def test_a_vector_that_does_not_say_how_it_restarts_shows_it():
    def play():
        env = Untold()
        env.reset()
        for _ in range(12):
            env.step(np.zeros(4, np.int64))

    _, script = watched(play)
    (stream,) = script.streams
    assert stream["autoreset"] == "same-step"
    assert stream["steps"] == 48
