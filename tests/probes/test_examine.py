"""The environment is played as it is, what is wrong becomes a fact, and nothing is left behind."""

from __future__ import annotations

import random

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium import spaces

from rldebug.probes.examine import examine


class Line(gym.Env):
    """Walk along a line to either end."""

    opened = 0

    def __init__(self, length=6):
        type(self).opened += 1
        self.length = length
        self.observation_space = spaces.Box(0.0, 2.0 * length, (2,), np.float32)
        self.action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = int(self.np_random.integers(1, self.length))
        return self._obs(), {}

    def _obs(self):
        return np.array([self.at, self.np_random.random()], np.float32)

    def step(self, action):
        self.at += (-1, 1)[action]
        over = self.at in (0, self.length)
        return self._obs(), float(self.at == self.length), over, False, {}

    def close(self):
        type(self).opened -= 1


def looked_at(kind, **given):
    return examine(kind, name="line", steps=300, **given)


def test_a_sound_environment_leaves_no_fact_against_it():
    contract = looked_at(Line)
    assert contract.steps == 300
    assert contract.endings
    assert contract.seeding.seeds_different == contract.seeding.seeds
    assert contract.seeding.unseeded_different == contract.seeding.unseeded
    assert contract.refused_of == 2
    against = (contract.failures, contract.structure, contract.flags, contract.misfits, contract.outside)
    against += (contract.nonfinite, contract.rewards, contract.refused, contract.accepted, contract.unbounded)
    assert not any(against)
    assert contract.aliased is contract.mutated is contract.seeding.played is contract.seeding.neighbour is None


def test_all_environments_are_closed_and_the_global_generators_are_as_they_were():
    random.seed(5)
    np.random.seed(5)
    torch.manual_seed(5)
    expected = random.random(), np.random.random(), torch.rand(1).item()
    random.seed(5)
    np.random.seed(5)
    torch.manual_seed(5)
    Line.opened = 0
    looked_at(Line)
    assert Line.opened == 0
    assert (random.random(), np.random.random(), torch.rand(1).item()) == expected


def test_the_same_seed_gives_the_same_facts():
    one, other = looked_at(Line, seed=3), looked_at(Line, seed=3)
    assert one.endings == other.endings
    assert one.seeding == other.seeding


def test_an_exception_is_a_fact_with_its_call_and_line():
    class Narrow(Line):
        def step(self, action):
            if self.at == 3:
                raise IndexError("no such place")
            return super().step(action)

    (failure,) = looked_at(Narrow).failures
    assert failure.call.startswith("step(")
    assert failure.kind == "IndexError"
    assert "no such place" in failure.said
    assert failure.file.endswith("test_examine.py")


def test_an_environment_that_leaves_the_interpreter_is_a_fact_too():
    class Quitting(Line):
        def reset(self, **given):
            raise SystemExit(1)

    assert looked_at(Quitting).failures[0].kind == "SystemExit"


def test_an_environment_that_cannot_be_made_is_a_fact():
    def make():
        raise RuntimeError("no licence")

    (failure,) = looked_at(make).failures
    assert failure.call == "make()"


def test_an_environment_that_cannot_be_closed_is_a_fact():
    class Stuck(Line):
        def close(self):
            raise OSError("still open")

    assert [each.call for each in looked_at(Stuck).failures] == ["close()"]


def test_the_budget_of_time_ends_it():
    contract = looked_at(Line, seconds=0.0)
    assert contract.steps == 0
    assert contract.failures == ()
    assert contract.seeding is None
    assert contract.remarks == ()


def test_a_dictionary_is_looked_at_part_by_part():
    class Parts(Line):
        def __init__(self):
            super().__init__()
            inner = {"place": spaces.Discrete(3), "noise": spaces.Box(0.0, 1.0, (1,), np.float32)}
            self.observation_space = spaces.Dict(inner)

        def _obs(self):
            return {"place": self.at, "noise": np.array([0.5, 0.5], np.float32)}

    contract = looked_at(Parts)
    assert contract.misfits[0].part == "obs['noise']"
    assert contract.outside[0].part == "obs['place']"
    assert contract.outside[0].worst == 6


def test_which_generator_is_drawn_from():
    class Gambling(Line):
        def _obs(self):
            return np.array([self.at, random.random()], np.float32)

    assert looked_at(Gambling).seeding.global_generator == "random"


def test_what_the_class_holds_is_named_where_instances_share_it():
    class Worn(Line):
        worn = [0]  # noqa: RUF012

        def _obs(self):
            self.worn[0] += 1
            return np.array([self.at, 1 / self.worn[0]], np.float32)

    seeding = looked_at(Worn).seeding
    assert seeding.shared == "Worn.worn"
    assert seeding.neighbour is not None
    assert seeding.same_seed is None


def test_one_instance_for_all_is_seen_and_closed_at_the_end():
    Line.opened = 0
    one = Line()
    contract = looked_at(lambda: one)
    assert contract.same_instance
    assert contract.seeding is None
    assert Line.opened == 0


def test_checkers_are_heard():
    def objecting(env):
        raise ValueError("not to my taste")

    remarks = [each for each in looked_at(Line, checkers=(objecting,)).remarks if each.raised]
    assert [each.text for each in remarks] == ["not to my taste"]


def test_a_wrapper_that_clips_leaves_the_bounds_below_it_in_force():
    class Steered(Line):
        def __init__(self):
            super().__init__()
            self.action_space = spaces.Box(-1.0, 1.0, (1,), np.float32)

        def step(self, action):
            return super().step(int(action[0] > 0))

    class Unbounded(Steered):
        def __init__(self):
            super().__init__()
            self.action_space = spaces.Box(-np.inf, np.inf, (1,), np.float32)

    assert looked_at(lambda: gym.wrappers.ClipAction(Steered())).unbounded == ()
    assert looked_at(Unbounded).unbounded == ("action[0]",)


@pytest.mark.parametrize(
    ("wrap", "role"),
    [
        pytest.param(lambda env: gym.wrappers.TimeLimit(env, 20), "limits time", id="time-limit"),
        pytest.param(gym.wrappers.NormalizeObservation, "normalises observations", id="normalise-observation"),
        pytest.param(gym.wrappers.NormalizeReward, "normalises rewards", id="normalise-reward"),
        pytest.param(gym.wrappers.RecordEpisodeStatistics, "records returns", id="record"),
        pytest.param(lambda env: gym.wrappers.FrameStackObservation(env, 3), "stacks frames", id="stack"),
    ],
)
def test_what_a_wrapper_does_is_recognised(wrap, role):
    contract = looked_at(lambda: wrap(Line()))
    assert role in contract.layers[0].roles
    assert contract.layers[-1].roles == frozenset()
    assert contract.failures == ()
