import gymnasium as gym
import numpy as np
import pytest

from rldebug.probes.flat import Flat, can_vary

NESTED = gym.spaces.Dict(
    {
        "speed": gym.spaces.Box(-1, 1, (2,)),
        "more": gym.spaces.Tuple([gym.spaces.Discrete(3), gym.spaces.Box(0, 255, (1, 2), np.uint8)]),
    }
)


def test_elements_have_names_and_kinds():
    names = Flat(NESTED).names
    where = ["obs['more'][0]", "obs['more'][1][0, 0]", "obs['more'][1][0, 1]", "obs['speed'][0]", "obs['speed'][1]"]
    assert [each.where for each in names] == where
    assert [each.kind for each in names] == ["choice", "pixel", "pixel", "number", "number"]


def test_a_row_is_a_copy():
    flat = Flat(gym.spaces.Box(-1, 1, (2,), np.float64))
    obs = np.array([0.1, 0.2])
    row = flat.row(obs)
    obs[:] = 9
    assert row.tolist() == [0.1, 0.2]


def test_nested_observations_become_one_row():
    obs = {"speed": np.array([0.5, -0.5]), "more": (2, np.array([[7, 8]], np.uint8))}
    assert Flat(NESTED).row(obs).tolist() == [2, 7, 8, 0.5, -0.5]


def test_an_image_is_sampled_but_compared_as_a_whole():
    flat = Flat(gym.spaces.Box(0, 255, (100, 100, 3), np.uint8))
    image = np.zeros((100, 100, 3), np.uint8)
    other = image.copy()
    other[50, 50, 1] = 1
    assert len(flat.row(image)) == len(flat.names) == 256
    assert flat.digest(image) != flat.digest(other)
    assert flat.digest(image) == flat.digest(image.copy())


@pytest.mark.parametrize(
    ("space", "obs"),
    [(gym.spaces.Box(-1, 1, (2,)), np.zeros(3)), (NESTED, np.zeros(5))],
    ids=["size", "structure"],
)
def test_what_does_not_fit_is_said(space, obs):
    with pytest.raises(ValueError, match="the observation"):
        Flat(space).row(obs)


@pytest.mark.parametrize(
    ("space", "varies"),
    [
        (gym.spaces.Discrete(1), False),
        (gym.spaces.Discrete(2), True),
        (gym.spaces.Box(0, 0, (1,)), False),
        (gym.spaces.Dict(a=gym.spaces.Discrete(1), b=gym.spaces.Box(0, 1, (1,))), True),
        (gym.spaces.Tuple([gym.spaces.MultiDiscrete([1, 1])]), False),
    ],
    ids=["one", "two", "no width", "dict", "tuple"],
)
def test_whether_a_space_has_more_than_one_value(space, varies):
    assert can_vary(space) is varies
