"""Steps that are put aside and logged in blocks are logged as they would have been one by one."""

import numpy as np
import pytest

from rldebug.capture import env_log
from rldebug.capture.env_log import EnvLog
from rldebug.capture.env_stream import Node


class Env:
    pass


def play(lazy, *, lanes, autoreset, obs_shape, continuous, dtype=np.float32, facts=None, calls=700):
    """A log of two environments in turn, with ends, resets, equal observations and numbers that are none."""
    clock = [0, 0]
    log = EnvLog(lambda: tuple(clock), lambda env: None)
    log.lazy = lazy
    rng = np.random.default_rng(3)
    one, two = Env(), Env()
    log.new(one, "gymnasium-vector" if lanes > 1 else "gymnasium", lanes, autoreset, dict(facts or {}))
    log.new(two, "gymnasium", 1, "disabled", {})
    shape = (lanes, *obs_shape) if lanes > 1 else obs_shape
    reused = np.zeros(shape, dtype=dtype)  # an environment that hands over the same array again and again

    def observe(size):
        values = rng.integers(0, 4, size)
        return values.astype(dtype)

    log.reset(one, observe(shape), 5, lanes)
    log.reset(two, observe((3,)), None, 1)
    over = False
    for call in range(calls):
        clock[:] = [call // 50, call // 10]
        if lanes == 1 and over:
            log.reset(one, observe(shape), None, 1)
        reused[...] = observe(shape)
        if dtype == np.float32 and call % 97 == 0:
            reused.flat[0] = np.nan
        ends, cuts = rng.random(lanes) < 0.08, rng.random(lanes) < 0.03
        reward = rng.integers(-1, 3, lanes).astype(np.float64)
        action = rng.normal(size=(lanes, 2)).astype(np.float32) if continuous else rng.integers(0, 3, lanes)
        final = None
        if autoreset == "same-step" and (ends | cuts).any():
            final = [observe(obs_shape) if ended else None for ended in ends | cuts]
        if lanes > 1:
            log.step(one, action, reused, reward, ends, cuts, final)
        else:
            over = bool(ends[0] or cuts[0]) and autoreset == "disabled" and not (facts or {}).get("resets_itself")
            given = action[0] if continuous else int(action[0])
            log.step(one, given, reused, float(reward[0]), bool(ends[0]), bool(cuts[0]), final)
        if call % 60 == 59:
            log.step(two, 1, observe((3,)), 0.5, False, False, None)
        if call % 200 == 150:
            assert log.current()  # somebody looks
    log.flush()
    return log


CASES = {
    "one": {"lanes": 1, "autoreset": "disabled", "obs_shape": (3,), "continuous": False},
    "one that resets itself": {
        "lanes": 1, "autoreset": "disabled", "obs_shape": (3,), "continuous": False, "facts": {"resets_itself": True},
    },
    "one, same step": {"lanes": 1, "autoreset": "same-step", "obs_shape": (3,), "continuous": True},
    "next step": {"lanes": 3, "autoreset": "next-step", "obs_shape": (4,), "continuous": False},
    "same step": {"lanes": 3, "autoreset": "same-step", "obs_shape": (4,), "continuous": True},
    "never reset": {"lanes": 2, "autoreset": "disabled", "obs_shape": (20,), "continuous": False},
    "images": {"lanes": 1, "autoreset": "disabled", "obs_shape": (4, 40, 40), "continuous": False, "dtype": np.uint8},
    "numbers": {"lanes": 3, "autoreset": "next-step", "obs_shape": (), "continuous": False, "dtype": np.int64},
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_same_as_one_by_one(case, monkeypatch):
    monkeypatch.setattr(env_log, "RECENT", 64)
    monkeypatch.setattr(env_log, "ASIDE", 90)
    calls = 120 if case == "images" else 700
    aside, direct = play(True, calls=calls, **CASES[case]), play(False, calls=calls, **CASES[case])
    assert len(aside.nodes) == len(direct.nodes) > 100
    for one, two in zip(aside.nodes, direct.nodes, strict=True):
        for name in Node.__slots__:
            np.testing.assert_equal(getattr(one, name), getattr(two, name), err_msg=f"{name} of node {one.id}")
    assert aside.index.keys() == direct.index.keys()
    assert (aside.steps, aside.calls) == (direct.steps, direct.calls)
    for one, two in zip(aside.streams, direct.streams, strict=True):
        told, expected = one.describe(), two.describe()
        # An action that is looked at is every eighth: of the calls, or of the steps.
        if CASES[case]["continuous"]:
            told.pop("action"), expected.pop("action")
        np.testing.assert_equal(rounded(told), rounded(expected))


def rounded(value):
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(each) for each in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value


def test_what_is_put_aside_is_bounded_and_a_copy():
    log = EnvLog(lambda: (0, 0), lambda env: None)
    log.lazy = True
    env = Env()
    log.new(env, "gymnasium", 1, "disabled", {})
    frame = np.zeros((3, 64, 64), dtype=np.uint8)
    log.reset(env, frame, None, 1)
    for step in range(400):
        frame[...] = step % 256
        log.step(env, 0, frame, 0.0, False, False, None)
        assert len(log._aside) <= env_log.ASIDE
        assert log._aside_bytes <= env_log.ASIDE_BYTES + frame.nbytes
    log.flush()
    assert [int(each.obs[0, 0, 0]) for each in list(log.recent)[-3:]] == [397 % 256, 398 % 256, 399 % 256]


def test_what_goes_wrong_later_is_not_the_readers_fault():
    log = EnvLog(lambda: (0, 0), lambda env: None)
    log.lazy = True
    env = Env()
    log.new(env, "gymnasium", 1, "disabled", {})
    log.reset(env, np.zeros(3), None, 1)
    log.step(env, 0, np.zeros(3), "much", False, False, None)
    with pytest.raises(ValueError, match="much"):
        log.steps  # noqa: B018
    failures = []
    log.failed = lambda: failures.append(1)
    log.step(env, 0, np.zeros(3), "much", False, False, None)
    assert log.steps == 0
    assert failures == [1]
