"""Exactly what went in comes out, through JSON; what is no ladder is refused, with its place."""

import dataclasses
import json
import math

import numpy as np
import pytest

from rldebug.evidence.ladder import Attempt, Ladder, Rung
from rldebug.evidence.ladder_data import from_dict, to_dict

ATTEMPT = Attempt(
    seed=0, outcome="failed", reason="off by 97 %: γ < 1", steps=512, updates=16, lr=1 / 3, moved=None,
    seconds=0.1 + 0.2, error=math.nan, noise=math.inf, value=np.array([0.1, -math.inf, math.nan]),
    frequencies=np.array([[1 / 3, 2 / 3]] * 3), returns=-0.0, forbidden=5e-324, envs=4,
    shows=("value", "q"), history=((200, 1.0), (400, math.nan)),
)  # fmt: skip
POLICY = dataclasses.replace(
    ATTEMPT, outcome="passed", value=None, policy=np.array([[0.25, 0.75]], dtype=np.float32), frequencies=None
)
LADDER = Ladder(
    "mine.py:make_agent",
    (
        Rung(
            "delayed-reward", 3, "What it asks.", "value", "failed", "off", looks=("a", "b", "c"),
            right=np.array([0.99, 1.0, 2.0]), choices=np.array([0, 1]), attempts=(ATTEMPT,),
            matched=("future-ignored",), returns=(0.5, 1.0),
        ),
        Rung(
            "action-reward", 4, "", "policy", "passed", "", looks=("only",), right=np.array([[0.0, 1.0]]),
            attempts=(POLICY, POLICY),
        ),
        Rung("recall", 29, "", "return", "not run", "stands on another"),
    ),
    declared={"gamma": 0.99, "lam": math.nan, "n_step": 3, "dueling": True},
    gamma=0.97,
    seconds=12.5,
)  # fmt: skip


def same(one, other):
    """Equal to the bit, type for type."""
    assert type(one) is type(other)
    if dataclasses.is_dataclass(one):
        for each in dataclasses.fields(one):
            same(getattr(one, each.name), getattr(other, each.name))
    elif isinstance(one, np.ndarray):
        assert (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())
    elif isinstance(one, tuple):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            same(a, b)
    elif isinstance(one, dict):
        assert list(one) == list(other)
        for name in one:
            same(one[name], other[name])
    else:
        assert repr(one) == repr(other)  # NaN is NaN, and -0.0 is not 0.0


def through_json(ladder):
    return from_dict(json.loads(json.dumps(to_dict(ladder), allow_nan=False)))


def test_exactly_what_went_in_comes_out():
    same(through_json(LADDER), LADDER)


def test_numbers_of_numpy_come_out_as_pythons():
    odd = dataclasses.replace(ATTEMPT, seed=np.int64(3), error=np.float64(0.5), lr=np.float32(0.25))
    [rung, *_] = LADDER.rungs
    out = through_json(Ladder("x", (dataclasses.replace(rung, attempts=(odd,)),))).rungs[0].attempts[0]
    assert [type(each) for each in (out.seed, out.error, out.lr)] == [int, float, float]
    assert (out.seed, out.error, out.lr) == (3, 0.5, 0.25)


def test_every_field_is_read():
    """A field that is added to a ladder and not to its readers would be lost in silence."""
    data = to_dict(LADDER)
    for thing, stored in (
        (LADDER, data),
        (LADDER.rungs[0], data["rungs"][0]),
        (ATTEMPT, data["rungs"][0]["attempts"][0]),
    ):
        assert list(stored) == [each.name for each in dataclasses.fields(thing)]
        for name in list(stored):
            kept = stored.pop(name)
            with pytest.raises(ValueError, match=f"{name} missing"):
                from_dict(data)
            stored[name] = kept


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: data.update(target=None), "target is NoneType, expected text"),
        (lambda data: data.update(rungs={}), "rungs is dict, expected a list"),
        (lambda data: data["rungs"][0].update(outcome="<b>"), r"rungs\[0\].outcome is '<b>', expected one of passed"),
        (lambda data: data["rungs"][0].update(outcome=[]), r"rungs\[0\].outcome is '\[\]', expected one of"),
        (lambda data: data["rungs"][0].update(number=True), r"rungs\[0\].number is bool, expected a whole number"),
        (lambda data: data["rungs"][0].update(returns=[1]), r"rungs\[0\].returns has 1 parts, expected 2"),
        (lambda data: data["rungs"][0].update(looks=["a"]), r"rungs\[0\].right has 3 rows, expected one for each of 1"),
        (lambda data: data["rungs"][0]["right"].update(shape=[2]), "right is no array"),
        (lambda data: data["rungs"][0]["right"].update(shape=[-1]), "right is no array"),
        (lambda data: data["rungs"][0]["right"].update(dtype="|O"), "right is no array"),
        (lambda data: data["rungs"][0]["right"].update(values=[{}] * 3), "right is dict, expected a number"),
        (
            lambda data: data["rungs"][1]["attempts"][0]["policy"].update(shape=[2, 1]),
            r"policy of seed 0 is of shape \(2, 1\), for 1 looks",
        ),
        (
            lambda data: data["rungs"][1]["attempts"][0]["policy"].update(shape=[1, 1], values=[1.0]),
            r"policy of seed 0 is of shape \(1, 1\)",
        ),
        (lambda data: data["declared"].update(gamma=[1]), "declared.gamma is list, expected a number or text"),
    ],
)
def test_what_is_no_ladder_is_refused_with_its_place(change, said):
    data = to_dict(LADDER)
    change(data)
    with pytest.raises(ValueError, match=said):
        from_dict(data)
