"""The reference in place of a function: same signature, same containers, the right numbers."""

from __future__ import annotations

import json
from collections import namedtuple
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import torch

from rldebug.oracles.judge import judge
from rldebug.oracles.plan import Plan, StandInError, plan_of
from rldebug.oracles.shelf import find
from rldebug.oracles.stand_in import check, stand_in
from tests.planted_functions import planted

GAMMA, LAM = 0.9, 0.7
REWARD = [1.0, -2.0, 3.0, 0.5]
VALUE = [0.5, 1.5, -1.0, 2.0]
DONE = [0.0, 1.0, 0.0, 0.0]
LAST = 4.0


def right(reward=REWARD, value=VALUE, done=DONE, last=LAST, gamma=GAMMA, lam=LAM):
    out, running = [0.0] * len(reward), 0.0
    for t in reversed(range(len(reward))):
        following = value[t + 1] if t + 1 < len(reward) else last
        running = reward[t] + gamma * following * (1 - done[t]) - value[t] + gamma * lam * (1 - done[t]) * running
        out[t] = running
    return out


def in_place_of(function, component="gae", compared=None):
    """By way of JSON, as another process gets it."""
    oracle = find(component)
    judgement = judge(function, oracle, drawn=0)
    assert judgement.fit is not None, judgement.reason
    check(function, oracle, judgement.fit)
    plan = Plan.from_dict(json.loads(json.dumps(plan_of(judgement.fit, oracle, judgement.mistakes).to_dict())))
    return stand_in(function, oracle, plan, compared)


def turned(rewards, values, dones, last_value, gamma, lam):
    """Works on anything that has a first axis; the sign is wrong."""
    out, running = rewards * 0.0, 0.0
    for t in reversed(range(len(rewards))):
        following = values[t + 1] if t + 1 < len(rewards) else last_value
        running = values[t] - rewards[t] - gamma * following * (1 - dones[t]) + gamma * lam * (1 - dones[t]) * running
        out[t] = running
    return out


@pytest.mark.parametrize("each", [*planted("gae"), *planted("discounted_return")], ids=lambda each: each.id)
def test_it_stands_in_for_every_planted_function(each):
    judgement = judge(each.function, find(each.component), each.map, drawn=0)
    check(each.function, find(each.component), judgement.fit)


@pytest.mark.parametrize("shape", [(4,), (4, 1), (4, 2), (4, 1, 1), (4, 2, 3)], ids=str)
def test_a_program_may_have_another_layout_than_the_cases(shape):
    def laid(column):
        return torch.tensor(column, dtype=torch.float64).reshape(4, *[1] * (len(shape) - 1)).expand(shape).clone()

    last = torch.full(shape[1:], LAST, dtype=torch.float64)
    given = laid(REWARD), laid(VALUE), laid(DONE)
    answer = in_place_of(turned)(*given, last, GAMMA, LAM)
    assert answer.shape == shape
    assert answer.dtype == torch.float64
    assert torch.allclose(answer, laid(right()))


def test_time_counted_from_the_end_as_torchrl_does():
    def from_the_end(rewards, values, dones, last_value, gamma, lam):
        last = last_value if not hasattr(last_value, "unsqueeze") else last_value.unsqueeze(-2)
        following = torch.cat([values[..., 1:, :], last], -2)
        delta = rewards + gamma * following * (1 - dones) - values
        out, running = torch.zeros_like(rewards), 0.0
        for t in reversed(range(rewards.shape[-2])):
            running = delta[..., t, :] + gamma * lam * (1 - dones[..., t, :]) * running
            out[..., t, :] = running
        return out

    given = [torch.tensor([column, column])[..., None] for column in (REWARD, VALUE, DONE)]
    told = []
    answer = in_place_of(from_the_end, compared=told.append)(*given, torch.full((2, 1), LAST), GAMMA, LAM)
    assert answer.shape == (2, 4, 1)
    assert torch.allclose(answer[1, :, 0], torch.tensor(right()))
    assert told == ["same"]


def test_environments_first():
    def batch_first(rewards, values, dones, last_value, gamma, lam):
        return turned(rewards.T, values.T, dones.T, last_value, gamma, lam).T

    given = [np.array([column, column], dtype=np.float32) for column in (REWARD, VALUE, DONE)]
    answer = in_place_of(batch_first)(*given, np.array([LAST, LAST]), GAMMA, LAM)
    assert answer.shape == (2, 4)
    assert np.allclose(answer, right(), atol=1e-5)


def test_containers_are_the_programs_own():
    made = in_place_of(turned)
    arrays = [np.array(each, dtype=np.float32) for each in (REWARD, VALUE, DONE)]
    answer = made(*arrays, LAST, GAMMA, lam=LAM)
    assert answer.dtype == np.float32
    assert np.allclose(answer, right(), atol=1e-5)

    def of_lists(rewards: list, values: list, dones: list, last_value, gamma, lam):
        return [float(each) for each in turned(*map(np.array, (rewards, values, dones)), last_value, gamma, lam)]

    answer = in_place_of(of_lists)(REWARD, VALUE, DONE, LAST, GAMMA, LAM)
    assert isinstance(answer, list)
    assert answer == pytest.approx(right())


Pair = namedtuple("Pair", "returns advantages")


@dataclass
class Both:
    advantages: Any
    returns: Any


@pytest.mark.parametrize(
    ("pack", "unpack"),
    [
        (lambda adv, ret: (adv, ret), lambda got: got),
        (lambda adv, ret: (ret, None, adv), lambda got: (got[2], got[0])),
        (lambda adv, ret: {"returns": ret, "adv": adv}, lambda got: (got["adv"], got["returns"])),
        (lambda adv, ret: Pair(ret, adv), lambda got: (got.advantages, got.returns)),
        (lambda adv, ret: Both(adv, ret), lambda got: (got.advantages, got.returns)),
    ],
    ids=["tuple", "other order", "dict", "namedtuple", "dataclass"],
)
def test_what_is_given_back_is_put_together_in_the_same_way(pack, unpack):
    def function(rewards, values, dones, last_value, gamma, lam):
        advantages = turned(rewards, values, dones, last_value, gamma, lam)
        return pack(advantages, values + advantages)

    given = [torch.tensor(each) for each in (REWARD, VALUE, DONE)]
    answer = in_place_of(function)(*given, LAST, GAMMA, LAM)
    assert type(answer) is type(pack(1, 2))
    advantages, returns = unpack(answer)
    assert torch.allclose(advantages, torch.tensor(right()))
    assert torch.allclose(returns, torch.tensor(right()) + given[1])


class Storage:
    """A rollout buffer, as SB3 has them."""

    def __init__(self):
        self.rewards, self.values, self.dones = (torch.tensor(each)[:, None] for each in (REWARD, VALUE, DONE))
        self.gamma, self.gae_lambda = GAMMA, LAM
        self.advantages, self.returns = torch.zeros(4, 1), None

    def compute(self, last_value):
        self.advantages[:] = turned(self.rewards, self.values, self.dones, last_value, self.gamma, self.gae_lambda)
        self.returns = self.advantages + self.values


def test_a_method_that_writes_its_answer_into_self():
    storage = Storage()
    held = storage.advantages
    assert in_place_of(Storage.compute)(storage, torch.tensor([LAST])) is None
    assert torch.allclose(storage.advantages[:, 0], torch.tensor(right()))
    assert storage.advantages is held
    assert torch.allclose(storage.returns, storage.advantages + storage.values)


def test_defaults_and_a_global_discount_as_it_is_now():
    space: dict[str, Any] = {"turned": turned, "GAMMA": 0.5}
    head = "def own(rewards, values, dones, last_value, lam=0.7):"
    exec(f"{head} return turned(rewards, values, dones, last_value, GAMMA, lam)", space)
    made = in_place_of(space["own"])
    space["GAMMA"] = GAMMA
    given = [torch.tensor(each) for each in (REWARD, VALUE, DONE)]
    assert torch.allclose(made(*given, LAST), torch.tensor(right()))


def test_what_the_function_spoils_is_restored():
    def spoils(rewards, values, dones, last_value, gamma, lam):
        answer = turned(rewards, values, dones, last_value, gamma, lam)
        rewards *= 0.0
        return answer

    rewards = np.array(REWARD)
    in_place_of(spoils)(rewards, np.array(VALUE), np.array(DONE), LAST, GAMMA, LAM)
    assert rewards.tolist() == REWARD


def test_one_that_raises_in_the_program_is_answered_for():
    def small_only(rewards, values, dones, last_value, gamma, lam):
        if len(rewards) > 5:
            raise ValueError("too long")
        return turned(rewards, values, dones, last_value, gamma, lam)

    told = []
    made = in_place_of(small_only, compared=told.append)
    given = [torch.tensor(each * 2) for each in (REWARD, VALUE, DONE)]
    answer = made(*given, LAST, GAMMA, LAM)
    assert torch.allclose(answer, torch.tensor(right(REWARD * 2, VALUE * 2, DONE * 2)))
    assert told == ["raised"]


def test_it_tells_whether_the_two_differ():
    told = []
    made = in_place_of(turned, compared=told.append)
    for reward in (REWARD, [0.0] * 4):
        made(torch.tensor(reward), torch.zeros(4), torch.zeros(4), 0.0, GAMMA, LAM)
    assert told == ["different", "same"]


def test_random_numbers_are_drawn_as_before():
    def draws(rewards, values, dones, last_value, gamma, lam):
        torch.rand(3)
        return turned(rewards, values, dones, last_value, gamma, lam)

    made = in_place_of(draws)
    given = [torch.tensor(each) for each in (REWARD, VALUE, DONE)]
    torch.manual_seed(1)
    draws(*given, LAST, GAMMA, LAM)
    expected = torch.rand(1)
    torch.manual_seed(1)
    made(*given, LAST, GAMMA, LAM)
    assert torch.rand(1) == expected


def test_a_loss_carries_the_gradient_of_the_reference():
    def policy_loss(logp, advantages):
        return (logp.detach() * advantages).mean()  # no minus, and no gradient

    logp = torch.tensor([-1.0, -2.0, -0.5], requires_grad=True)
    loss = in_place_of(policy_loss, "policy-gradient-loss")(logp, torch.tensor([1.0, -2.0, 3.0]))
    assert loss.item() == pytest.approx(-(-1.0 + 4.0 - 1.5) / 3)
    loss.backward()
    assert logp.grad.tolist() == pytest.approx([-1 / 3, 2 / 3, -1.0])


def test_arrays_of_different_lengths_are_refused():
    made = in_place_of(turned)
    with pytest.raises(StandInError, match=r"value has shape \(3, 1\), expected \(4, 1\)"):
        made(torch.ones(4), torch.ones(3), torch.zeros(4), 0.0, GAMMA, LAM)


def test_what_looks_into_objects_cannot_be_replaced():
    fit = judge(turned, find("gae"), drawn=0).fit
    for more in ({"observe": lambda *_: {"advantage": np.zeros(3)}}, {"examine": lambda *_: None}):
        with pytest.raises(StandInError, match="only"):
            stand_in(turned, replace(find("gae"), **more), fit)
    stand_in(turned, replace(find("gae"), observe=lambda *_: None), fit)
