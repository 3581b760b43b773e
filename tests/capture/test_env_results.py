"""Values as the log wants them. The forms of whole steps are tried in test_hand_rolled.py."""

import math
import warnings

import numpy as np
import pytest
import torch

from rldebug.capture.env_results import batch, copied, finals, host, number, reset_obs, row, understand


def test_copies_are_independent():
    array, tensor = np.zeros(2), torch.zeros(2, requires_grad=True)
    given = {"a": array, "b": (tensor, [array, 3]), "c": None}
    taken = copied(given)
    array += 1
    with torch.no_grad():
        tensor += 1
    np.testing.assert_array_equal(taken["a"], [0, 0])
    np.testing.assert_array_equal(taken["b"][0], [0, 0])
    np.testing.assert_array_equal(taken["b"][1][0], [0, 0])
    assert taken["b"][1][1] == 3
    assert isinstance(taken["b"][0], np.ndarray)


def test_tensors_elsewhere_are_not_fetched():
    assert host(torch.zeros(3, device="meta")) is None
    assert copied(torch.zeros(3, device="meta")) is None
    assert host(torch.zeros(3, dtype=torch.bfloat16)) is None
    on_device = (torch.zeros(4, 2, device="meta"), torch.zeros(4, device="meta"), torch.zeros(4, dtype=torch.bool), {})
    step = understand(on_device)
    assert step.lanes == 4
    assert step.obs == [None] * 4
    assert np.isnan(step.reward).all()


@pytest.mark.parametrize(
    "value", [2, 2.0, np.float32(2), np.array(2), np.array([2.0]), torch.tensor([[2.0]]), True + True]
)
def test_number(value):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert number(value) == 2.0


def test_no_number():
    assert math.isnan(number(None))
    assert math.isnan(number(np.zeros(2)))
    assert math.isnan(number("2"))


def test_rows_and_batches():
    many = {"a": np.arange(6).reshape(3, 2), "b": (np.arange(3),)}
    assert row(many, 1)["b"] == (1,)
    assert batch((np.zeros((2, 3)), np.ones((2, 1))), 2)[1][1] == 1  # a tuple of parts, two lanes: one tuple for each
    assert batch((4, 5), 2) == [4, 5]
    assert batch(7, 2) == [None, None]
    assert batch(np.zeros((3, 1)), 2) == [None, None]
    assert batch(np.array([5]), 1) == 5
    assert batch(5, 1) == 5


def test_obs_of_a_reset():
    obs = np.zeros(2)
    assert reset_obs((obs, {})) is obs
    assert reset_obs(obs) is obs
    assert reset_obs((1, 2)) == (1, 2)  # an observation of two parts
    assert reset_obs({"obs": 1}) == {"obs": 1}


def test_final_observations():
    obs, last = np.zeros(2), np.ones(2)
    assert finals({"final_obs": last}, True, 1, obs)[0] is last
    assert finals({"final_obs": obs.copy()}, True, 1, obs) is None  # not reset: it is where the episode has come to
    assert finals({"final_obs": last}, False, 1, obs) is None
    assert finals(None, True, 1, obs) is None
    per_lane = np.array([None, last], dtype=object)
    assert finals({"final_obs": per_lane}, np.array([False, True]), 2, None)[1] is last
    assert finals([{}, {"terminal_observation": last}], np.array([False, True]), 2, None)[0] is None
    assert finals(["text", {}], np.array([True, True]), 2, None) is None


def test_time_limits_of_many():
    infos = [{}, {"TimeLimit.truncated": True}, {"TimeLimit.truncated": True}]
    step = understand((np.zeros((3, 2)), np.zeros(3), np.array([True, True, False]), infos))
    np.testing.assert_array_equal(step.terminated, [True, False, False])
    np.testing.assert_array_equal(step.truncated, [False, True, False])


@pytest.mark.parametrize(("info", "cut"), [({"timeout": True}, True), ({"truncated": np.True_}, True),
                                           ({"timeout": False}, False), ({"timeout": np.ones(3)}, False)])  # fmt: skip
def test_one_flag_and_an_info_that_says_that_time_ran_out(info, cut):
    step = understand((np.ones(3), 1.0, True, info))
    assert (step.terminated, step.truncated) == (not cut, cut)


@pytest.mark.parametrize("place", ["fifth", "sixth", "fourth", "info"])
def test_observations_of_before_a_reset_stand_beside_those_of_after_it(place):
    obs = torch.arange(6.0).reshape(3, 2)
    last = obs.clone()
    last[1] = 9.0
    reward, over, cut = torch.ones(3), torch.tensor([False, True, False]), torch.zeros(3, dtype=torch.bool)
    step = understand({
        "fifth": (obs, reward, over, cut, last), "sixth": (obs, reward, over, cut, last, {}),
        "fourth": (obs, reward, over, last), "info": (obs, reward, over, cut, {"before": last}),
    }[place])  # fmt: skip
    assert step.final_obs[0] is None
    assert step.final_obs[1].tolist() == [9.0, 9.0]


def test_a_batch_of_something_else_is_not_taken_for_them():
    obs, flags = torch.arange(6.0).reshape(3, 2), torch.tensor([False, True, False])
    assert understand((obs, torch.ones(3), flags, flags, {"goal": obs + 1.0})).final_obs is None
    assert understand((obs, torch.ones(3), flags, flags, obs + 1.0)).final_obs is None
