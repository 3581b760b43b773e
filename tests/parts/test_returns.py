"""Every estimator beside a slow twin written from its definition, a sum over the steps of one episode."""

import math
import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rldebug.parts import returns
from rldebug.parts.returns import gae, n_step, retrace, reward_to_go, td_lambda, vtrace

GAMMA, LAM = 0.97, 0.9


# ---- the twins: one env, lists of floats ----


def stops(t, column):
    """The last step that counts for step t: where its episode or the rollout ends."""
    while t < len(column.reward) - 1 and not (column.terminated[t] or column.truncated[t]):
        t += 1
    return t


def beyond(t, column, value):
    """V of what came after step t."""
    if column.terminated[t]:
        return 0.0
    if column.truncated[t]:
        return column.final_value[t]
    return value[t + 1] if t + 1 < len(value) else column.last_value


def n_step_twin(t, column, n, gamma=GAMMA):
    last = min(t + n - 1, stops(t, column))
    rewards = sum(gamma ** (k - t) * column.reward[k] for k in range(t, last + 1))
    return rewards + gamma ** (last - t + 1) * beyond(last, column, column.value)


def reward_to_go_twin(t, column):
    return n_step_twin(t, column, len(column.reward))


def td_lambda_twin(t, column):
    """The mean of all n-step returns, weighed (1 − λ) λ^(n−1), the last with all the weight that is left."""
    longest = stops(t, column) - t + 1
    mean = sum((1 - LAM) * LAM ** (n - 1) * n_step_twin(t, column, n) for n in range(1, longest))
    return mean + LAM ** (longest - 1) * n_step_twin(t, column, longest)


def gae_twin(t, column):
    errors = [
        column.reward[k] + GAMMA * beyond(k, column, column.value) - column.value[k]
        for k in range(t, stops(t, column) + 1)
    ]
    return sum((GAMMA * LAM) ** k * error for k, error in enumerate(errors))


def vtrace_twin(t, column, rho_clip=1.0, c_clip=1.0):
    target = column.value[t]
    for k in range(t, stops(t, column) + 1):
        error = column.reward[k] + GAMMA * beyond(k, column, column.value) - column.value[k]
        traces = math.prod(LAM * min(c_clip, math.exp(column.log_ratio[i])) for i in range(t, k))
        target += GAMMA ** (k - t) * traces * min(rho_clip, math.exp(column.log_ratio[k])) * error
    return target


def vtrace_advantage_twin(t, column, rho_clip=1.0, c_clip=1.0):
    targets = [vtrace_twin(k, column, rho_clip, c_clip) for k in range(len(column.reward))]
    error = column.reward[t] + GAMMA * beyond(t, column, targets) - column.value[t]
    return min(rho_clip, math.exp(column.log_ratio[t])) * error


def retrace_twin(t, column):
    """Here value is Q(s, a) and final_value the expectation over the next state, of every step."""
    target = column.value[t]
    for k in range(t, stops(t, column) + 1):
        following = 0.0 if column.terminated[k] else column.final_value[k]
        error = column.reward[k] + GAMMA * following - column.value[k]
        traces = math.prod(LAM * min(1.0, math.exp(column.log_ratio[i])) for i in range(t + 1, k + 1))
        target += GAMMA ** (k - t) * traces * error
    return target


# ---- a rollout, and every way to call the real ones ----


class Batch:
    """Random steps `(T, B)` in float64; `cast` gives what a caller would have."""

    names = ("reward", "value", "final_value", "log_ratio", "terminated", "truncated", "last_value")

    def __init__(self, steps, envs, seed=0, ends=0.3):
        rng = np.random.default_rng(seed)
        shape = (steps, envs)
        self.reward, self.value, self.final_value, self.log_ratio = rng.standard_normal((4, *shape))
        self.terminated, self.truncated = rng.random((2, *shape)) < ends / 2
        self.last_value = rng.standard_normal(envs)

    def column(self, b):
        """One env, as lists of Python floats."""
        own = Batch.__new__(Batch)
        for name in self.names:
            each = getattr(self, name)
            setattr(own, name, each[b] if name == "last_value" else each[:, b].tolist())
        return own

    def cast(self, convert):
        own = Batch.__new__(Batch)
        for name in self.names:
            setattr(own, name, convert(np.array(getattr(self, name))))
        return own


def call(name, x, **changes):
    ends = {"last_value": x.last_value, "final_value": x.final_value, "gamma": GAMMA}
    if name == "gae":
        return gae(x.reward, x.value, x.terminated, x.truncated, **{**ends, "lam": LAM, **changes})[0]
    if name == "gae-target":
        return gae(x.reward, x.value, x.terminated, x.truncated, **{**ends, "lam": LAM, **changes})[1]
    if name == "td-lambda":
        return td_lambda(x.reward, x.value, x.terminated, x.truncated, **{**ends, "lam": LAM, **changes})
    if name == "n-step":
        return n_step(x.reward, x.value, x.terminated, x.truncated, **{**ends, "n": 3, **changes})
    if name == "reward-to-go":
        return reward_to_go(x.reward, x.terminated, x.truncated, **{**ends, **changes})
    if name.startswith("vtrace"):
        off = {**ends, "log_ratio": x.log_ratio, "lam": LAM, **changes}
        return vtrace(x.reward, x.value, x.terminated, x.truncated, **off)[name == "vtrace-advantage"]
    return retrace(
        x.reward, x.value, x.final_value, x.terminated, x.truncated, log_ratio=x.log_ratio,
        **{"gamma": GAMMA, "lam": LAM, **changes},
    )  # fmt: skip


TWINS = {
    "gae": gae_twin,
    "gae-target": lambda t, column: gae_twin(t, column) + column.value[t],
    "td-lambda": td_lambda_twin,
    "n-step": lambda t, column: n_step_twin(t, column, 3),
    "reward-to-go": reward_to_go_twin,
    "vtrace": vtrace_twin,
    "vtrace-advantage": vtrace_advantage_twin,
    "retrace": retrace_twin,
}


def expected(name, batch):
    steps, envs = batch.reward.shape
    return np.array([[TWINS[name](t, batch.column(b)) for b in range(envs)] for t in range(steps)])


WAYS = {
    "numpy": lambda array: array,
    "torch": torch.from_numpy,
    "scan": torch.from_numpy,
    "float32": lambda array: array.astype(np.float32) if array.dtype == np.float64 else array,
}


@pytest.fixture(params=list(WAYS))
def way(request, monkeypatch):
    """Numpy arrays, CPU tensors, and what other devices get, on the CPU."""
    if request.param == "scan":
        monkeypatch.setattr(returns, "_on_host", lambda tensor: False)
    return WAYS[request.param]


@pytest.fixture
def scanned(monkeypatch):
    monkeypatch.setattr(returns, "_on_host", lambda tensor: False)


def close(result, wanted):
    tolerance = 1e-11 if result.dtype in (np.float64, torch.float64) else 2e-5
    np.testing.assert_allclose(np.asarray(result), wanted, rtol=tolerance, atol=tolerance)


# One env, few and many (a row of its own code each), and lengths around powers of two.
SHAPES = [(1, 1), (1, 3), (1, 30), (2, 1), (9, 1), (16, 2), (7, 5), (8, 24), (5, 40)]


@pytest.mark.parametrize("name", list(TWINS))
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"{shape[0]}x{shape[1]}")
def test_as_defined(way, name, shape):
    batch = Batch(*shape)
    close(call(name, batch.cast(way)), expected(name, batch))


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 20), st.integers(1, 3), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.2, 1.0, 2.0]))
def test_as_defined_on_any_rollout(steps, envs, seed, ends):
    batch = Batch(steps, envs, seed, ends)
    for name in TWINS:
        wanted = expected(name, batch)
        close(call(name, batch), wanted)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(returns, "_on_host", lambda tensor: False)
            close(call(name, batch.cast(torch.from_numpy)), wanted)


@pytest.mark.parametrize("n", [1, 2, 4, 5, 6, 7, 12, 13, 1000])
def test_n_of_any_size(way, n):
    batch = Batch(13, 3, ends=0.1)
    wanted = [[n_step_twin(t, batch.column(b), n) for b in range(3)] for t in range(13)]
    close(call("n-step", batch.cast(way), n=n), np.array(wanted))


@pytest.mark.parametrize("clips", [(1.0, 1.0), (2.0, 0.5), (0.5, 2.0), (math.inf, math.inf)], ids=str)
def test_clips_of_vtrace(way, clips):
    rho_clip, c_clip = clips
    batch = Batch(8, 3)
    changes = {"rho_clip": rho_clip, "c_clip": c_clip}
    for name, twin in (("vtrace", vtrace_twin), ("vtrace-advantage", vtrace_advantage_twin)):
        wanted = [[twin(t, batch.column(b), rho_clip, c_clip) for b in range(3)] for t in range(8)]
        close(call(name, batch.cast(way), **changes), np.array(wanted))


def test_on_policy_vtrace_is_the_lambda_return(way):
    batch = Batch(12, 3)
    batch.log_ratio[:] = 0.0
    x = batch.cast(way)
    close(call("vtrace", x), np.asarray(call("td-lambda", x)))


def test_a_ratio_beyond_all_floats_is_clipped(way):
    batch = Batch(6, 2, ends=0.0)
    far, near = Batch(6, 2, ends=0.0), batch.log_ratio.copy()
    far.log_ratio = np.where(near > 0, 1e4, near)
    for name in ("vtrace", "vtrace-advantage", "retrace"):
        close(call(name, far.cast(way)), np.asarray(call(name, batch.cast(way))))


# ---- endings ----


def test_last_step_of_an_episode(way):
    """Spelled out: one env each that goes on, is terminated, is truncated, and is both."""
    batch = Batch(1, 4)
    batch.reward[:], batch.value[:], batch.last_value[:], batch.final_value[:] = 1.0, 10.0, 2.0, 4.0
    batch.terminated[:] = [[False, True, False, True]]
    batch.truncated[:] = [[False, False, True, True]]
    target = [[1 + 0.5 * 2, 1, 1 + 0.5 * 4, 1]]
    for name in ("gae-target", "td-lambda", "n-step", "reward-to-go"):
        close(call(name, batch.cast(way), gamma=0.5), target)


@pytest.mark.parametrize("name", list(TWINS))
@pytest.mark.parametrize("ending", ["terminated", "truncated"])
@pytest.mark.parametrize("envs", [1, 2, 30])
def test_an_ended_episode_never_leaks_into_the_one_before(way, name, ending, envs):
    """Not even NaN: what is beyond the end is not multiplied by zero, it is not read."""
    sound = Batch(9, envs, ends=0.0)
    getattr(sound, ending)[4] = True
    poisoned = Batch(9, envs, ends=0.0)
    getattr(poisoned, ending)[4] = True
    for array in ("reward", "value", "final_value", "log_ratio"):
        getattr(poisoned, array)[5:] = np.nan
    poisoned.last_value[:] = np.nan
    before = np.asarray(call(name, sound.cast(way)))[:5]
    after = np.asarray(call(name, poisoned.cast(way)))
    np.testing.assert_array_equal(after[:5], before)
    assert np.isnan(after[5:]).all()


@pytest.mark.parametrize("name", [name for name in TWINS if name != "retrace"])
@pytest.mark.parametrize("envs", [1, 2, 30])
def test_final_value_is_read_only_where_truncated(way, name, envs):
    batch = Batch(9, envs)
    full = np.asarray(call(name, batch.cast(way)))
    batch.final_value[~batch.truncated | batch.terminated] = np.nan
    np.testing.assert_array_equal(np.asarray(call(name, batch.cast(way))), full)


@pytest.mark.parametrize("name", list(TWINS))
def test_no_truncation_is_no_flag_set(way, name):
    batch = Batch(9, 3)
    batch.truncated[:] = False
    x = batch.cast(way)
    full = np.asarray(call(name, x))
    x.truncated = None
    changes = {} if name == "retrace" else {"final_value": None}
    np.testing.assert_array_equal(np.asarray(call(name, x, **changes)), full)


@pytest.mark.parametrize("name", list(TWINS))
def test_nan_within_an_episode_reaches_every_earlier_step_of_it(way, name):
    batch = Batch(4, 2, ends=0.0)
    batch.reward[2, 0] = np.nan
    lost = np.isnan(np.asarray(call(name, batch.cast(way), **({"n": 9} if name == "n-step" else {}))))
    np.testing.assert_array_equal(lost, [[True, False], [True, False], [True, False], [False, False]])


def test_reward_to_go_without_a_last_value_adds_nothing(way):
    batch = Batch(5, 2, ends=0.0)
    bare = reward_to_go(batch.cast(way).reward, batch.cast(way).terminated, gamma=GAMMA)
    batch.last_value[:] = 0.0
    close(bare, expected("reward-to-go", batch))


# ---- what comes in, and what goes out ----


@pytest.mark.parametrize("name", list(TWINS))
def test_one_env_without_its_axis(way, name):
    batch = Batch(9, 1)
    wanted = np.asarray(call(name, batch.cast(way)))[:, 0]
    x = batch.cast(lambda array: way(array[:, 0] if array.ndim == 2 else array))
    for last_value in (x.last_value, x.last_value[0], float(x.last_value[0])):
        x.last_value = last_value
        result = call(name, x)
        assert result.shape == (9,)
        np.testing.assert_array_equal(np.asarray(result), wanted)


def test_last_value_as_a_number(way):
    batch = Batch(5, 3)
    batch.last_value[:] = 0.5
    x = batch.cast(way)
    full = np.asarray(call("gae", x))
    np.testing.assert_array_equal(np.asarray(call("gae", x, last_value=0.5)), full)


FLAGS = {"uint8": np.uint8, "int64": np.int64, "float32": np.float32}


@pytest.mark.parametrize("dtype", list(FLAGS))
@pytest.mark.parametrize("name", ["gae", "retrace"])
def test_flags_may_be_numbers(way, name, dtype):
    batch = Batch(9, 3)
    full = np.asarray(call(name, batch.cast(way)))
    x = batch.cast(way)
    x.terminated, x.truncated = (
        way(batch.terminated.astype(FLAGS[dtype])),
        way(batch.truncated.astype(FLAGS[dtype]) * 2),
    )
    np.testing.assert_array_equal(np.asarray(call(name, x)), full)


@pytest.mark.parametrize("name", list(TWINS))
def test_results_are_of_the_kind_of_the_value(way, name):
    x = Batch(4, 2).cast(way)
    like = x.reward
    x.last_value = x.last_value.tolist()[0]
    result = call(name, x)
    assert type(result) is type(like)
    assert result.dtype == like.dtype
    assert result.shape == like.shape


def test_a_reward_of_another_dtype_follows_the_value():
    """Gymnasium's rewards are float64, values float32."""
    batch = Batch(9, 3)
    x = batch.cast(WAYS["float32"])
    x.reward = batch.reward
    result = call("gae", x)
    assert result.dtype == np.float32
    close(result, expected("gae", batch))
    x.reward = np.ones((9, 3), np.int64)
    batch.reward[:] = 1.0
    close(call("gae", x), expected("gae", batch))


HALVES = {
    "numpy-float16": lambda a: a.astype(np.float16) if a.dtype == np.float64 else a,
    "torch-float16": lambda a: torch.from_numpy(a).half() if a.dtype == np.float64 else torch.from_numpy(a),
    "torch-bfloat16": lambda a: torch.from_numpy(a).bfloat16() if a.dtype == np.float64 else torch.from_numpy(a),
}


def widened(x):
    own = Batch.__new__(Batch)
    for name in Batch.names:
        each = getattr(x, name)
        if name not in ("terminated", "truncated"):
            each = each.float() if isinstance(each, torch.Tensor) else each.astype(np.float32)
        setattr(own, name, each)
    return own


@pytest.mark.parametrize("kind", list(HALVES))
@pytest.mark.parametrize("name", list(TWINS))
def test_half_precision_is_computed_in_float32(kind, name):
    x = Batch(20, 2).cast(HALVES[kind])
    exact, result = call(name, widened(x)), call(name, x)
    assert result.dtype == x.value.dtype
    rounded = exact.to(result.dtype) if isinstance(exact, torch.Tensor) else exact.astype(result.dtype)
    assert bool((result == rounded).all())


def test_half_precision_on_other_devices(scanned):
    x = Batch(20, 2).cast(HALVES["torch-bfloat16"])
    result = call("gae", x)
    assert result.dtype == torch.bfloat16
    assert torch.equal(result, call("gae", widened(x)).bfloat16())


def strided(array):
    """The same numbers, every second of a wider array, the axes swapped in memory."""
    wide = np.zeros((*array.shape[1:], 2 * array.shape[0]), array.dtype).T
    wide[::2] = array
    return wide[::2]


def read_only(array):
    array.flags.writeable = False
    return array


MEMORIES = {
    "strided": strided,
    "fortran": np.asfortranarray,
    "read-only": read_only,
    "byte-swapped": lambda array: array.astype(array.dtype.newbyteorder()),
    "torch-transposed": lambda array: torch.from_numpy(np.ascontiguousarray(array.T)).T,
    "torch-strided": lambda array: torch.from_numpy(np.repeat(array, 2, axis=-1))[..., ::2],
}


@pytest.mark.filterwarnings("ignore:The use of `x.T`:UserWarning")
@pytest.mark.parametrize("memory", list(MEMORIES))
@pytest.mark.parametrize("name", list(TWINS))
def test_memory_of_any_layout(memory, name):
    batch = Batch(9, 3)
    np.testing.assert_array_equal(np.asarray(call(name, batch.cast(MEMORIES[memory]))), call(name, batch))


@pytest.mark.parametrize("name", list(TWINS))
def test_inputs_stay_as_they_were_and_results_are_new(way, name):
    x, untouched = Batch(9, 3).cast(way), Batch(9, 3).cast(way)
    result = np.asarray(call(name, x))
    for each in Batch.names:
        array = np.asarray(getattr(x, each))
        np.testing.assert_array_equal(array, np.asarray(getattr(untouched, each)))
        assert not np.shares_memory(result, array)


def test_discounts_may_be_whole_numbers_or_numpys_own(way):
    x = Batch(5, 2).cast(way)
    close(
        call("vtrace", x, gamma=np.float64(0.5), lam=np.float32(0.25)),
        np.asarray(call("vtrace", x, gamma=0.5, lam=0.25)),
    )
    close(call("gae", x, gamma=1, lam=0), np.asarray(call("gae", x, gamma=1.0, lam=0.0)))
    close(call("td-lambda", x, gamma=1, lam=1), np.asarray(call("reward-to-go", x, gamma=1.0)))


@pytest.mark.parametrize("name", list(TWINS))
def test_other_devices_are_never_asked_for_a_number(name):
    """A meta tensor holds none: reading one, or branching on one, raises."""

    def on_meta(array):
        return torch.from_numpy(array).to("meta")

    result = call(name, Batch(9, 3).cast(on_meta))
    assert result.device.type == "meta"
    assert result.shape == (9, 3)


# ---- what is refused ----


def refused(error, pattern, name="gae", **changes):
    x = Batch(6, 3)
    keywords = {}
    for key, each in changes.items():
        if hasattr(x, key):
            setattr(x, key, each)
        else:
            keywords[key] = each
    with pytest.raises(error, match=pattern):
        call(name, x, **keywords)


@pytest.mark.parametrize("name", [name for name in TWINS if name != "retrace"])
def test_truncation_needs_to_know_what_was_cut_off(name):
    refused(ValueError, r"truncated without final_value: .*V\(final_obs\)", name, final_value=None)


def test_final_value_without_truncated():
    refused(ValueError, "final_value without truncated", truncated=None)


@pytest.mark.parametrize("name", list(TWINS))
def test_a_graph_is_refused(name):
    carriers = {"reward-to-go": ("reward", "last_value"), "retrace": ("value", "log_ratio")}
    for carrier in carriers.get(name, ("value", "last_value", "final_value")):
        x = Batch(4, 2).cast(torch.from_numpy)
        getattr(x, carrier).requires_grad_()
        word = "q" if name == "retrace" and carrier == "value" else carrier
        with pytest.raises(ValueError, match=rf"{word} carries a graph.*{word}\.detach\(\)"):
            call(name, x)


WRONG_SHAPES = {
    "extra-axis": ({"reward": np.zeros((6, 3, 1))}, r"reward has shape \(6, 3, 1\) and .*drop the last axis"),
    "swapped": ({"terminated": np.zeros((3, 6), bool)}, r"terminated has shape \(3, 6\) and value \(6, 3\)"),
    "one-step-more": ({"value": np.zeros((7, 3))}, r"reward has shape \(6, 3\) and value \(7, 3\)"),
    "cut-off-short": ({"truncated": np.zeros((5, 3), bool)}, r"truncated has shape \(5, 3\)"),
    "final-per-env": ({"final_value": np.zeros(3)}, r"final_value has shape \(3,\)"),
    "last-per-step": ({"last_value": np.zeros((6, 3))}, r"last_value .* \(6, 3\), expected \(3,\): one value per env"),
    "last-column": ({"last_value": np.zeros((3, 1))}, r"last_value has shape \(3, 1\), expected \(3,\)"),
    "last-single": ({"last_value": np.zeros(1)}, r"last_value has shape \(1,\), expected \(3,\)"),
}  # fmt: skip


@pytest.mark.parametrize("case", list(WRONG_SHAPES))
def test_shapes_must_agree(case):
    changes, pattern = WRONG_SHAPES[case]
    refused(ValueError, pattern, **changes)


@pytest.mark.parametrize("shape", [(0, 3), (6, 0), (), (6, 3, 2)], ids=str)
def test_a_rollout_has_steps_and_envs(shape):
    floats, flags = np.zeros(shape), np.zeros(shape, bool)
    with pytest.raises(ValueError, match=r"value has shape .* expected \(T, B\) or \(T,\)"):
        gae(floats, floats, flags, last_value=0.0, gamma=GAMMA, lam=LAM)


def test_last_value_of_one_env_without_its_axis():
    with pytest.raises(ValueError, match=r"last_value has shape \(2,\), expected \(\) or \(1,\)"):
        gae(np.ones(4), np.ones(4), np.zeros(4, bool), last_value=np.zeros(2), gamma=GAMMA, lam=LAM)


WRONG_KINDS = {
    "list": ({"reward": [[0.0] * 3] * 6}, TypeError, "reward is a list, expected a numpy array or a torch tensor"),
    "mixed": ({"reward": torch.zeros(6, 3)}, TypeError, "reward is a torch tensor and value a numpy array"),
    "last-mixed": ({"last_value": torch.zeros(3)}, TypeError, "last_value is a torch tensor and value a numpy array"),
    "last-missing": ({"last_value": None}, TypeError, "last_value is a NoneType, expected .* or a number"),
    "value-int": ({"value": np.zeros((6, 3), np.int64)}, ValueError, "value is int64, expected floating-point numbers"),
    "value-complex": ({"value": np.zeros((6, 3), complex)}, ValueError, "value is complex128"),
    "reward-object": ({"reward": np.zeros((6, 3), object)}, ValueError, "reward is object, expected real numbers"),
    "flags-text": ({"terminated": np.full((6, 3), "no")}, ValueError, "terminated is <U2, expected bool"),
}  # fmt: skip


@pytest.mark.parametrize("case", list(WRONG_KINDS))
def test_kinds_must_agree(case):
    changes, error, pattern = WRONG_KINDS[case]
    refused(error, pattern, **changes)


def test_tensors_of_integers_and_complex_numbers():
    x = Batch(4, 2).cast(torch.from_numpy)
    x.value = torch.zeros(4, 2, dtype=torch.int64)
    with pytest.raises(ValueError, match=r"value is torch.int64, expected floating-point"):
        call("gae", x)
    x = Batch(4, 2).cast(torch.from_numpy)
    x.reward = torch.zeros(4, 2, dtype=torch.complex64)
    with pytest.raises(ValueError, match=r"reward is torch.complex64, expected real numbers"):
        call("gae", x)


def test_one_device():
    x = Batch(4, 2).cast(torch.from_numpy)
    x.reward = x.reward.to("meta")
    with pytest.raises(ValueError, match="reward is on meta and value on cpu, expected one device"):
        call("gae", x)


@pytest.mark.parametrize("argument", ["gamma", "lam"])
@pytest.mark.parametrize("wrong", [-0.1, 1.01, float("nan"), 99], ids=str)
def test_discounts_lie_between_0_and_1(argument, wrong):
    refused(ValueError, f"{argument} is .*, expected a number from 0 to 1", **{argument: wrong})


def test_discounts_are_plain_numbers():
    refused(TypeError, "gamma is a Tensor, expected a plain number", gamma=torch.tensor(0.99))


@pytest.mark.parametrize("n", [0, -1, 2.0, True], ids=str)
def test_n_is_a_count(n):
    refused(ValueError, "n is .*, expected a whole number of steps", "n-step", n=n)


@pytest.mark.parametrize("clip", ["rho_clip", "c_clip"])
def test_clips_are_above_zero(clip):
    for wrong in (0.0, -1.0, float("nan"), "1"):
        refused(ValueError, f"{clip} is .*, expected a plain number above 0", "vtrace", **{clip: wrong})


def test_numba_is_imported_only_when_a_kernel_runs():
    program = "import sys, rldebug.parts.returns; print('numba' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "False"
