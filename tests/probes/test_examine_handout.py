import numpy as np
import pytest
from gymnasium import spaces

from rldebug.probes.examine_handout import Clock, Inspector, Tally, differing, look_at_flags, look_at_reward

BOX = spaces.Box(-1.0, 1.0, (2,), np.float32)


def looked(space, obs):
    inspector = Inspector(space)
    inspector.look(obs, "step()", 1)
    return inspector


@pytest.mark.parametrize(
    ("space", "obs"),
    [
        pytest.param(BOX, np.zeros(3, np.float32), id="shape"),
        pytest.param(BOX, None, id="none"),
        pytest.param(BOX, [[1.0], [1.0, 2.0]], id="ragged"),
        pytest.param(spaces.Box(0, 255, (2,), np.uint8), np.zeros(2, np.float32), id="floats-for-bytes"),
        pytest.param(spaces.Discrete(3), 1.0, id="float-for-number"),
        pytest.param(spaces.Dict({"a": BOX}), {"b": np.zeros(2)}, id="keys"),
        pytest.param(spaces.Dict({"a": BOX}), np.zeros(2), id="no-dict"),
        pytest.param(spaces.Tuple([BOX, BOX]), (np.zeros(2),), id="tuple-too-short"),
        pytest.param(spaces.Text(4), 7, id="text"),
    ],
)
def test_what_does_not_fit_is_a_misfit(space, obs):
    (misfit,) = looked(space, obs).misfits.all()
    assert not misfit.lenient


@pytest.mark.parametrize(
    ("space", "obs"),
    [
        pytest.param(BOX, np.zeros(2, np.float64), id="another-precision"),
        pytest.param(BOX, np.zeros(2, np.int64), id="whole-numbers-for-floats"),
        pytest.param(spaces.Discrete(3), np.int32(2), id="number-of-numpy"),
        pytest.param(spaces.Tuple([BOX, spaces.Discrete(2)]), (np.zeros(2), 1), id="tuple"),
        pytest.param(spaces.MultiBinary(2), np.array([0, 1]), id="bits"),
        pytest.param(spaces.Text(4), "abc", id="text"),
    ],
)
def test_what_fits_is_none(space, obs):
    inspector = looked(space, obs)
    assert inspector.misfits.all() == ()
    assert inspector.outside == ()


def test_a_list_for_an_array_is_a_lenient_misfit():
    assert looked(BOX, [0.0, 0.0]).misfits.all()[0].lenient


def test_rounding_is_not_outside_and_the_worst_comes_first():
    assert looked(BOX, np.array([1.0 + 1e-7, 0.0])).outside == ()
    worst, other = looked(BOX, np.array([1.5, -4.0])).outside
    assert (worst.part, worst.worst, other.part) == ("obs[1]", -4.0, "obs[0]")


def test_nan_is_not_finite_and_not_outside():
    inspector = looked(BOX, np.array([np.nan, 0.0]))
    assert inspector.nonfinite.all()[0].part == "obs[0]"
    assert inspector.outside == ()


@pytest.mark.parametrize(("divisor", "known"), [(255.0, False), (255.0**2, True), (300.0**2, False)], ids=str)
def test_images_divided_twice_are_known_by_their_levels(divisor, known):
    image = np.arange(256).reshape(16, 16).astype(np.float32) / np.float32(divisor)
    levels = looked(spaces.Box(0.0, 1.0, (16, 16), np.float32), image).pixel_levels
    assert (levels is not None) == known


@pytest.mark.parametrize("reward", [1, 0.5, np.float32(1), np.int64(2), True, np.array(1.0)], ids=repr)
def test_numbers_are_rewards(reward):
    tally = Tally()
    look_at_reward(reward, tally, 1)
    assert tally.all() == ()


@pytest.mark.parametrize(
    "reward", [None, "1", np.array([1.0]), np.zeros(2), np.nan, np.inf, np.array(np.nan)], ids=repr
)
def test_others_are_not(reward):
    tally = Tally()
    look_at_reward(reward, tally, 1)
    assert len(tally.all()) == 1


def test_flags_are_booleans_of_python_or_numpy():
    tally = Tally()
    look_at_flags(True, np.False_, tally, 1)
    assert tally.all() == ()
    look_at_flags(1, np.array([True]), tally, 2)
    assert {each.part: each.lenient for each in tally.all()} == {"terminated": True, "truncated": False}


def test_a_clock_is_found_where_an_element_tells_the_time():
    generator = np.random.default_rng(0)

    def clock(with_time):
        found = Clock()
        for _ in range(4):
            for step in range(20):
                found.look(np.array([generator.random(), step / 20 if with_time else 0.0]), step)
        return found.found

    assert clock(True) == "element 1"
    assert clock(False) == ""
    assert Clock().found is None


def test_the_first_difference_has_a_place():
    one, other = {"a": np.zeros(3)}, {"a": np.array([0.0, 0.0, 2.0])}
    assert differing(one, other) == ("obs['a'][2]", "0", "2")
    assert differing(np.array([np.nan]), np.array([np.nan])) is None
    assert differing(np.array([1.0]), np.array([1.0 + 1e-8])) is None
    assert differing(np.array([1.0]), np.array([1.0 + 1e-8]), exact=True) is not None
