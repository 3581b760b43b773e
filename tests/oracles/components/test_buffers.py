"""The transition audit: codes can be read back, objects of many shapes can be driven, what cannot be is told."""

from __future__ import annotations

import random
import time
from collections import deque

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium import spaces

from rldebug.oracles.audit.coding import (
    MOST,
    SCALARS,
    Form,
    Track,
    action,
    action_number,
    code_of,
    cut_code_of,
    observation,
    scalar,
    scalar_number,
)  # fmt: skip
from rldebug.oracles.audit.read import columns
from rldebug.oracles.components.frame_stack import FRAME_STACK
from rldebug.oracles.components.minibatches import MINIBATCHES
from rldebug.oracles.components.n_step_replay import N_STEP_REPLAY
from rldebug.oracles.components.prioritised_replay import PRIORITISED_REPLAY
from rldebug.oracles.components.replay_buffer import REPLAY_BUFFER
from rldebug.oracles.components.rollout_buffer import ROLLOUT_BUFFER
from rldebug.oracles.verification import verification_of
from rldebug.parts.buffers import PrioritisedReplay, Replay, RolloutBuffer
from rldebug.parts.preprocess import FrameStack


@pytest.mark.parametrize(
    "form", [Form(), Form(actions="discrete"), Form(shape=(4, 5), pixels=True, actions="discrete")]
)
def test_every_step_can_be_told_from_its_fields(form):
    steps = Track(envs=3, length=MOST // 3).all
    codes = [code_of(observation(step.code, form).ravel(), form) for step in steps]
    assert codes == [step.code for step in steps]
    acted = [action_number(np.atleast_1d(np.asarray(action(step.number, form), float)), form) for step in steps]
    assert acted == [step.number for step in steps]
    for name in SCALARS:
        assert [scalar_number(name, np.float32(scalar(name, step.number))) for step in steps] == acted


def test_fractions_that_were_cut_off_are_seen():
    cut = observation((1, 2, 3), Form()).astype(int)
    assert code_of(cut, Form()) is None
    assert cut_code_of(cut, Form()) == (1, 2, 3)
    assert code_of(np.zeros(3), Form()) is None


def test_tracks_have_endings_of_both_kinds_and_unique_observations():
    steps = Track(envs=2, length=5).all
    assert len({step.code for step in steps}) == len(steps)
    assert any(step.terminated for step in steps)
    assert any(step.truncated for step in steps)


@pytest.mark.parametrize(
    "batch",
    [
        (np.zeros((4, 3)), np.zeros(4)),
        {"a": np.zeros((4, 3)), "b": [0.0, 1.0, 2.0, 3.0]},
        [(np.zeros(3), 1.0)] * 4 and [(np.zeros(3), 1.0, 2)] * 4,
        ({"a": torch.zeros(4, 3)}, {"b": torch.zeros(4, 1)}),
        tuple(zip(*[(np.zeros(3), 1.0, 0)] * 4, strict=True)),
        [{"a": np.zeros(3), "b": 1}] * 4,
    ],
)
def test_columns_of_all_kinds_of_batches(batch):
    widths = sorted(values.shape[1] for values in columns(batch, 4).values())
    assert widths[-1] == 3
    assert 1 in widths


@pytest.mark.parametrize(
    ("oracle", "target"),
    [
        (REPLAY_BUFFER, Replay),
        (REPLAY_BUFFER, PrioritisedReplay),
        (N_STEP_REPLAY, Replay),
        (PRIORITISED_REPLAY, PrioritisedReplay),
        (ROLLOUT_BUFFER, RolloutBuffer),
        (MINIBATCHES, RolloutBuffer.minibatches),
        (FRAME_STACK, FrameStack),
        (FRAME_STACK, gymnasium.wrappers.FrameStackObservation),
    ],
    ids=lambda each: getattr(each, "name", getattr(each, "__qualname__", "")),
)
def test_our_own_and_gymnasium_s_are_right_without_a_mapping(oracle, target):
    found = verification_of(target, oracle)
    assert found.outcome == "right", f"{found.reason} {found.matched} {found.seen}"
    assert found.mapping
    assert found.cases


class Plain:
    def __init__(self, capacity):
        self.rows = deque(maxlen=capacity)

    def add(self, obs, action, reward, next_obs, done):
        self.rows.append((obs, action, reward, next_obs, done))

    def sample(self, batch_size):
        return [np.array(column) for column in zip(*random.sample(self.rows, batch_size), strict=True)]


def test_objects_and_functions_that_make_them_are_driven_too():
    assert verification_of(Plain(10), REPLAY_BUFFER).outcome == "right"
    made = verification_of(lambda: Plain(10), REPLAY_BUFFER)
    assert made.outcome == "right"
    assert any("full was not looked at" in note for note in made.notes)


def test_a_buffer_that_keeps_what_it_is_given_gets_a_note():
    found = verification_of(Plain, REPLAY_BUFFER)
    assert found.outcome == "right"
    assert any("very arrays" in note for note in found.notes)


def test_the_first_wrong_row_is_shown_field_by_field():
    class Shifted(Plain):
        def sample(self, batch_size):
            rows = [k for k in random.sample(range(len(self.rows)), batch_size)]  # noqa: C416
            picked = [(*self.rows[k][:2], self.rows[k - 1][2], *self.rows[k][3:]) for k in rows]
            return [np.array(column) for column in zip(*picked, strict=True)]

    found = verification_of(Shifted, REPLAY_BUFFER)
    assert found.matched == ("replay-buffer-reward-shifted",)
    assert found.table is not None
    assert found.table.columns == ("field", "yours", "right")
    assert [found.table.rows[k][0] for k in found.table.wrong] == ["reward [2]"]
    assert "of the step before" in found.seen


class NoSample:
    def __init__(self, capacity):
        pass

    def add(self, obs, action, reward, next_obs, done):
        pass


class OddConstructor:
    def __init__(self, wibble):
        pass


class Raises(Plain):
    def add(self, obs, action, reward, next_obs, done):
        raise RuntimeError("no room")


class Hangs(Plain):
    def sample(self, batch_size):
        while True:
            time.sleep(0.01)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (NoSample, "--map sample=METHOD"),
        (OddConstructor, "wibble"),
        (Raises, "no room"),
        (3, "add"),
        (print, "returns nothing"),
    ],
)
def test_what_cannot_be_driven_says_what_was_expected(target, words):
    found = verification_of(target, REPLAY_BUFFER)
    assert found.outcome == "unusable"
    assert words in found.reason


def test_methods_can_be_named():
    class Odd(Plain):
        put_away = Plain.add
        bring = Plain.sample
        add = None
        sample = None

    found = verification_of(Odd, REPLAY_BUFFER, {"add": "put_away", "sample": "bring"})
    assert found.outcome == "right", found.reason
    wrong = verification_of(Odd, REPLAY_BUFFER, {"add": "nothing_like_it", "sample": "bring"})
    assert wrong.outcome == "unusable"
    assert "no method of that name" in wrong.reason


def test_generators_are_left_as_they_were():
    random.seed(1)
    np.random.seed(1)
    torch.manual_seed(1)
    before = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()
    verification_of(Plain, REPLAY_BUFFER)
    assert before == (random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist())


def test_stable_baselines_like_arguments_are_understood():
    class Spaces:
        def __init__(self, buffer_size, observation_space, action_space, n_envs=1, device="auto"):
            assert isinstance(observation_space, spaces.Box)
            assert device == "cpu"
            self.rows, self.n_envs = deque(maxlen=buffer_size // n_envs), n_envs

        def add(self, obs, next_obs, action, reward, done, infos):
            ends = done & ~np.array([info["TimeLimit.truncated"] for info in infos])
            self.rows.append((obs.copy(), action.copy(), next_obs.copy(), ends, reward.copy()))

        def sample(self, batch_size):
            picks = [(random.choice(self.rows), random.randrange(self.n_envs)) for _ in range(batch_size)]
            return tuple(np.stack([row[k][env] for row, env in picks]) for k in range(5))

    found = verification_of(Spaces, REPLAY_BUFFER)
    assert found.outcome == "right", f"{found.reason} {found.matched} {found.seen}"
    assert "with a leading axis of environments" in found.convention
