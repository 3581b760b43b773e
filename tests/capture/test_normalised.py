"""Rows of a replay buffer that VecNormalize normalises anew in each batch are known by what they were before."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import torch

from rldebug.capture import normalised
from rldebug.capture.env_log import EnvLog
from rldebug.capture.matching import Matcher
from tests.capture.fake_session import FakeSession


class VecNormalize:
    """By a mean that moves on."""

    def __init__(self):
        self.mean = 1.0

    def normalize_obs(self, obs):
        return (obs - self.mean).astype(np.float32)

    def unnormalize_obs(self, obs):
        return obs + self.mean

    def normalize_reward(self, reward):
        return (reward / 2.0).astype(np.float32)


@pytest.fixture
def session(monkeypatch):
    module = ModuleType("stable_baselines3.common.vec_env.vec_normalize")
    module.VecNormalize = type("VecNormalize", (), dict(vars(VecNormalize)))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    found = FakeSession()
    found.log = found.told = EnvLog(lambda: (0, 0), lambda env: None)
    found.matcher = Matcher(found.log)
    found.made = module.VecNormalize()
    normalised.install(found)
    yield found
    found.switch.undo()
    assert not found.switch.broken


def handed(session, raw):
    """As in a step: what is normalised there is what the program is handed."""
    here = normalised.shared_by(session.switch, session.log).here
    here.inside = True
    obs = session.made.normalize_obs(raw)
    here.inside = False
    session.log.reset(SimpleNamespace(), obs, None, len(obs))
    return obs


def test_a_batch_is_found_after_the_mean_has_moved(session):
    raw = np.arange(8.0).reshape(2, 4)
    handed(session, raw)
    session.made.mean = 3.0
    batch = session.made.normalize_obs(raw[::-1])
    ids = [session.matcher.aliases.get(each) for each in normalised.row_fingerprints(batch)]
    assert ids == [1, 0]


def test_last_observations_go_the_way_back(session):
    obs = handed(session, np.arange(8.0).reshape(2, 4) / 3)
    session.made.mean = 3.0
    stored = np.stack([session.made.unnormalize_obs(each) for each in obs])
    session.made.mean = 4.0
    batch = session.made.normalize_obs(stored)
    assert [session.matcher.aliases.get(each) for each in normalised.row_fingerprints(batch)] == [0, 1]


def test_rows_that_nobody_was_handed_stay_unknown(session):
    handed(session, np.arange(8.0).reshape(2, 4))
    session.made.normalize_obs(np.full((3, 4), 9.0))
    assert not session.matcher.aliases


def test_rewards_as_they_are_used(session):
    session.made.normalize_reward(np.arange(5.0))
    (told,) = session.audit.arrays("rescaled")
    np.testing.assert_array_equal(told["given"], np.arange(5.0))
    np.testing.assert_array_equal(told["used"], np.arange(5.0) / 2.0)


def test_no_more_than_so_many_are_remembered(session, monkeypatch):
    monkeypatch.setattr(normalised, "ROWS", 8)
    watch = normalised.Normalised(session)
    for each in range(20):
        watch._remember([each], [each])
    assert len(watch.became) <= 8
    assert 19 in watch.became


def test_a_batch_of_observations_in_parts(session):
    """One of the parts is normalised, as the keys of VecNormalize say."""
    make = session.made
    own = type(make).normalize_obs
    raw = {"goal": np.arange(4.0).reshape(2, 2), "view": np.array([[7], [9]], dtype=np.uint8)}

    def handed_over(obs):
        return {"goal": own(make, obs["goal"]), "view": obs["view"]}

    look = normalised.Normalised(session)
    look.here.inside = True
    first = handed_over(raw)
    look.normalised(raw, first)
    look.here.inside = False
    session.log.reset(SimpleNamespace(), first, None, 2)
    make.mean = 3.0
    session.audit = object()
    turned = {key: each[::-1] for key, each in raw.items()}
    batch = handed_over(turned)
    look.normalised(turned, batch)
    parts = [torch.tensor(batch["goal"]), torch.tensor(batch["view"].copy())]
    rows, _ = session.matcher.rows(parts)
    assert rows.tolist() == [session.log.nodes[1].id, session.log.nodes[0].id]
