"""How states look and how actions are given: nothing is lost, and nothing is told that should not be."""

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector.utils import concatenate, create_empty_array

from rldebug.probes.encodings import CHOICES, LOOKS, NOISE, choice, look


def rng():
    return np.random.default_rng(3)


def flat(space, obs):
    """Everything in an observation, as one row of numbers."""
    return np.asarray(spaces.flatten(space, obs), dtype=float)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("kind", LOOKS)
def test_every_look_is_in_its_space_and_differs_from_the_others(kind, n):
    made = look(kind, n)
    shown = [made.show(i, rng()) for i in range(n)]  # the same noise for all: what differs is the state
    assert all(made.space.contains(each) for each in shown)
    assert len({flat(made.space, each).tobytes() for each in shown}) == n


@pytest.mark.parametrize("kind", LOOKS)
def test_what_was_shown_may_be_written_to(kind):
    made = look(kind, 4)
    before = flat(made.space, made.show(1, rng()))
    given = made.show(1, rng())
    parts = given.values() if isinstance(given, dict) else given if isinstance(given, tuple) else [given]
    for part in parts:
        if isinstance(part, np.ndarray):
            part[...] = 0
    np.testing.assert_array_equal(flat(made.space, made.show(1, rng())), before)


@pytest.mark.parametrize("kind", LOOKS)
def test_looks_can_be_batched(kind):
    made = look(kind, 4)
    rows = [made.show(i, rng()) for i in range(4)]
    assert concatenate(made.space, rows, create_empty_array(made.space, 4)) is not None


def test_noise_is_new_at_every_look_and_what_matters_is_not():
    made, dice = look("noisy", 2), rng()
    first, second = made.show(1, dice), made.show(1, dice)
    np.testing.assert_array_equal(first[:2], [0, 1])
    np.testing.assert_array_equal(second[:2], [0, 1])
    assert (first[2:] != second[2:]).all()
    assert len(first) == 2 + NOISE


@pytest.mark.parametrize("kind", ["dict", "tuple"])
def test_neither_part_alone_tells_the_state(kind):
    made = look(kind, 4)
    shown = [made.show(i, rng()) for i in range(4)]
    for part in ("far", "near") if kind == "dict" else (0, 1):
        assert len({each[part].tobytes() for each in shown}) == 2


def test_only_the_place_is_bright_in_an_image():
    frames = [look("image", 4).show(i, rng()) for i in range(4)]
    assert {int(each.sum()) for each in frames} == {int(frames[0].sum())}
    assert np.max(frames, axis=0).min() == 255  # together they are the whole picture


def test_colours_differ_by_channel_alone():
    red, green, blue = (look("colour", 3).show(i, rng()) for i in range(3))
    np.testing.assert_array_equal(red.mean(axis=2), green.mean(axis=2))
    np.testing.assert_array_equal(red[..., 0], blue[..., 2])
    assert red.shape[2] == 3
    assert not red[..., 1:].any()


def test_shades_are_all_something_other_than_black():
    made = look("brightness", 2)
    dim, bright = made.show(0, rng()), made.show(1, rng())
    np.testing.assert_array_equal(dim > 0, bright > 0)
    assert (dim <= bright).all()


@pytest.mark.parametrize("n", [2, 3, 6, 8])
@pytest.mark.parametrize("kind", CHOICES)
def test_every_choice_can_be_made(kind, n):
    made = choice(kind, n, None)
    made.space.seed(0)
    drawn = [made.read(made.space.sample()) for _ in range(600)]
    assert set(drawn) == set(range(n))
    # None is favoured: each is drawn about equally often by one who acts at random.
    assert min(np.bincount(drawn, minlength=n)) > 0.5 * 600 / n


def test_the_ends_of_the_range_are_choices_too():
    read = choice("continuous", 3, None).read
    assert [read([x]) for x in (-5.0, -1.0, 0.0, 1.0, 5.0)] == [0, 0, 1, 2, 2]


def test_numbers_are_clipped_to_their_bounds():
    made = choice("continuous", 2, (-1.0, 3.0))
    assert (float(made.space.low[0]), float(made.space.high[0])) == (-1.0, 3.0)
    assert [made.read(np.array([x], dtype=np.float32)) for x in (-7.0, 0.25, 7.0)] == [-1.0, 0.25, 3.0]


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        pytest.param(lambda: look("smell", 2), "expected one of one-hot", id="look"),
        pytest.param(lambda: choice("telepathic", 2, None), "expected one of discrete", id="choice"),
        pytest.param(lambda: choice("discrete", 2, (0.0, 1.0)), "actions are numbers", id="choices for numbers"),
        pytest.param(lambda: choice("discrete", 2, None).read(2), "expected 0 to 1", id="too large"),
        pytest.param(lambda: choice("discrete", 2, None).read(-1), "expected 0 to 1", id="negative"),
        pytest.param(lambda: choice("discrete", 2, None).read([0, 1]), "one finite number", id="two for one"),
        pytest.param(lambda: choice("continuous", 2, None).read([np.nan]), "one finite number", id="NaN"),
        pytest.param(lambda: choice("multi-discrete", 6, None).read([1]), "expected 2", id="a part missing"),
        pytest.param(lambda: choice("multi-discrete", 6, None).read([1, 3]), "expected 0 to 2", id="a part too large"),
    ],
)
def test_what_cannot_be_is_said(ask, says):
    with pytest.raises(ValueError, match=says):
        ask()
