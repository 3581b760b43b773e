"""Steps that are put aside and logged in blocks are logged as they would have been one by one."""

import numpy as np
import pytest

from rldebug.capture import env_log, env_nodes
from rldebug.capture.env_log import EnvLog
from rldebug.capture.env_stream import REWARDS, Node


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
    monkeypatch.setattr(env_nodes, "RECENT", 64)
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
        assert list(one.newest) == list(two.newest)
        assert len(one.newest) == min(one.steps, REWARDS)


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
    assert [int(each.obs[0, 0, 0]) for each in log.nodes[-3:]] == [397 % 256, 398 % 256, 399 % 256]


def test_what_goes_wrong_later_is_not_the_readers_fault():
    log = EnvLog(lambda: (0, 0), lambda env: None)
    log.lazy = True
    env = Env()
    log.new(env, "gymnasium", 1, "disabled", {})
    log.reset(env, np.zeros(3), None, 1)
    log.step(env, 0, np.zeros(3), "much", False, False, None)
    with pytest.raises(ValueError, match="much"):
        log.flush()
    failures = []
    log.failed = lambda: failures.append(1)
    log.step(env, 0, np.zeros(3), "much", False, False, None)
    log.flush()
    assert log.steps == 0
    assert failures == [1]


def test_environments_called_in_turn_are_kept_together():
    logs = []
    for lazy in (True, False):
        log = EnvLog(lambda: (0, 0), lambda env: None)
        log.lazy = lazy
        envs = [Env() for _ in range(12)]
        for place, env in enumerate(envs):
            log.new(env, "gymnasium", 1, "disabled", {})
            log.reset(env, np.array([place, -1.0]), None, 1)
        for step in range(60):
            for place, env in enumerate(envs):
                log.step(env, step % 3, np.array([place, float(step)]), 1.0, step % 20 == 19, False, None)
                if step % 20 == 19:
                    log.reset(env, np.array([place, -float(step)]), None, 1)
        log.flush()
        logs.append(log)
    aside, direct = logs
    assert len(aside._blocks) <= 4 * 12
    assert len(aside.nodes) == len(direct.nodes)
    for one, two in zip(*(sorted(log.nodes, key=lambda each: (each.stream, each.call)) for log in logs), strict=True):
        np.testing.assert_equal(one.obs, two.obs)
        assert (one.action, one.reward, one.terminated, one.first) == (
            two.action,
            two.reward,
            two.terminated,
            two.first,
        )
        ahead, expected = aside.get(one.succ), direct.get(two.succ)
        assert (ahead is None) == (expected is None)
        if ahead is not None:
            np.testing.assert_equal(ahead.obs, expected.obs)
    for one, two in zip(aside.streams, direct.streams, strict=True):
        np.testing.assert_equal(rounded(one.describe()), rounded(two.describe()))


def test_a_step_that_is_put_aside_is_counted_at_once():
    log = EnvLog(lambda: (0, 0), lambda env: None)
    log.lazy = True
    env = Env()
    log.new(env, "gymnasium-vector", 3, "same-step", {})
    log.reset(env, np.zeros((3, 2)), None, 3)
    for _ in range(5):
        log.step(env, np.zeros(3, int), np.zeros((3, 2)), np.ones(3), np.zeros(3, bool), np.zeros(3, bool), None)
    assert log.steps == 15
    assert not log._blocks


def test_the_quick_way_says_the_same():
    """As an environment is told of in the midst of an episode, and at its end."""
    logs = []
    for quick in (True, False):
        told = []
        log = EnvLog(lambda: (0, 0), told.append)
        log.lazy, log.wake_at = True, 1 << 60
        env = Env()
        stream = log.new(env, "gymnasium-vector", 2, "same-step", {})
        log.reset(env, np.zeros((2, 2)), None, 2)
        for step in range(40):
            obs, done = np.full((2, 2), float(step)), step % 10 == 9
            ends, cuts, last = np.array([done, False]), np.zeros(2, bool), [obs[0] + 0.5, None] if done else None
            if quick:
                log.quick_step(env, stream, np.array([1, 0]), obs, np.ones(2), ends, cuts, last, done)
            else:
                log.step(env, np.array([1, 0]), obs, np.ones(2), ends, cuts, last)
        assert len(told) == (2 if quick else 41)  # the reset, and the first after it
        log.flush()
        logs.append(log)
    for one, two in zip(logs[0].nodes, logs[1].nodes, strict=True):
        for name in Node.__slots__:
            np.testing.assert_equal(getattr(one, name), getattr(two, name), err_msg=f"{name} of node {one.id}")
