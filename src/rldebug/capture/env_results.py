"""What `step` and `reset` hand back, in whatever form: Gymnasium's five, the older four, three, or named fields."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

_OBS = ("observation", "observations", "obs", "next_obs", "next_observation", "next_state", "state")
_REWARD = ("reward", "rewards")
_TERMINATED = ("terminated", "terminal", "terminations")
_TRUNCATED = ("truncated", "truncations")
_DONE = ("done", "dones")
_LIMIT = ("TimeLimit.truncated", "truncated", "timeout", "time_out", "timed_out")
_FINAL = ("final_obs", "final_observation", "terminal_observation")
_NUMBERS = (int, float, np.integer, np.floating)
_LAST = 2  # dm_env.StepType.LAST


@dataclasses.dataclass(slots=True)
class Step:
    obs: Any
    reward: Any  # a number, or an array with one for each lane; NaN where it cannot be read
    terminated: Any
    truncated: Any
    final_obs: list[Any] | None
    lanes: int
    api: str


# ── values ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def host(value: Any) -> Any:
    """Tensors as arrays that share their memory, if they lie in host memory; None if not: fetching one would wait."""
    if isinstance(value, torch.Tensor):
        if value.device.type != "cpu":
            return None
        try:
            return value.detach().numpy()
        except (RuntimeError, TypeError):
            return None  # sparse, bfloat16, or a batched tensor of torch.func
    if isinstance(value, dict):
        return {key: host(each) for key, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(host(each) for each in value)
    return value


def copied(value: Any) -> Any:
    """Independent of what the program does with it later. What is no number, array or collection of them is kept."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, torch.Tensor):
        array = host(value)
        return None if array is None else array.copy()
    if isinstance(value, dict):
        return {key: copied(each) for key, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(copied(each) for each in value)
    return value


def number(value: Any) -> float:
    if isinstance(value, float):
        return value
    if isinstance(value, (np.ndarray, torch.Tensor)):
        array = host(value)
        return float(array.item()) if array is not None and array.size == 1 else math.nan
    return float(value) if isinstance(value, (*_NUMBERS, bool, np.bool_)) else math.nan


def row(value: Any, lane: int) -> Any:
    """Of a batch of observations or actions, that of one lane."""
    if isinstance(value, dict):
        return {key: row(each, lane) for key, each in value.items()}
    if isinstance(value, tuple):
        return tuple(row(each, lane) for each in value)
    return value if leading(value) is None else value[lane]


def batch(value: Any, lanes: int) -> Any:
    """As the log wants it: one observation where there is one lane, else one for each, or as many times None."""
    if lanes == 1:
        return row(value, 0)
    if isinstance(value, (dict, tuple)):
        parts = list(value.values()) if isinstance(value, dict) else value
        if parts and all(leading(each) == lanes for each in parts):
            return [row(value, lane) for lane in range(lanes)]
        return list(parts) if isinstance(value, tuple) and len(parts) == lanes else [None] * lanes
    return value if leading(value) == lanes else [None] * lanes


def _size(value: Any) -> int | None:
    """Of a scalar 0, of one number for each lane how many there are, None for anything else."""
    if isinstance(value, (np.ndarray, torch.Tensor)):
        shape = tuple(value.shape)
        if isinstance(value, np.ndarray) and value.dtype.kind not in "biuf":
            return None
        if len(shape) == 2 and shape[1] == 1:
            shape = shape[:1]
        return None if len(shape) > 1 else shape[0] if shape else 0
    if isinstance(value, (*_NUMBERS, bool, np.bool_)):
        return 0
    if isinstance(value, (list, tuple)) and value and all(_size(each) == 0 for each in value):
        return len(value)
    return None


def _flags(value: Any, strict: bool) -> bool:
    """Whether this says done or not done. Not strict: also zeros and ones."""
    if isinstance(value, (bool, np.bool_)):
        return True
    if isinstance(value, torch.Tensor):
        if value.dtype == torch.bool:
            return True
        value = host(value)
        if value is None:
            return not strict  # on a device: its numbers are not looked at
    if _size(value) is None:
        return False
    array = np.asarray(value)
    if array.dtype == np.bool_:
        return True
    return not strict and bool(np.isin(array, (0, 1)).all())


def _rewards(value: Any) -> bool:
    if isinstance(value, (bool, np.bool_)) or getattr(value, "dtype", None) in (np.bool_, torch.bool):
        return False
    return _size(value) is not None


def is_flag(value: Any) -> bool:
    return _flags(value, strict=True)


def is_reward(value: Any) -> bool:
    return _rewards(value)


# ── results ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def reset_obs(result: Any) -> Any:
    """The observation in what `reset` has returned: alone, with an info, or in a field."""
    if type(result) is tuple and len(result) == 2 and isinstance(result[1], (dict, list)):
        return result[0]
    fields = _fields(result)
    if fields is not None and (name := _first(fields, _OBS)) is not None and not isinstance(result, dict):
        return fields[name]
    return result


def understand(result: Any) -> Step | None:
    """What a step has returned, if it is plain that it is one."""
    if type(result) in (tuple, list):
        return _from_tuple(tuple(result))
    fields = _fields(result)
    return None if fields is None else _from_fields(fields)


def _from_tuple(result: tuple[Any, ...]) -> Step | None:
    if not 3 <= len(result) <= 6:
        return None
    if _beside_first(result):  # what is allowed, or the state of all agents, stands behind the observation
        result = (result[0], *result[2:])
    obs, reward, ended = result[:3]
    last = result[-1] if len(result) > 3 else None
    informed = isinstance(last, dict) or (isinstance(last, list) and bool(last) and isinstance(last[0], dict))
    if not _flags(ended, strict=not informed):
        return None
    info = last if informed else {}
    beside = [each for each in result[3:] if _alike(each, obs)]
    if beside and not (isinstance(info, dict) and any(name in info for name in _FINAL)):
        found = host(beside[0])
        info = {} if found is None else found
    if len(result) >= 5 and _flags(result[3], strict=not informed):
        return _step(obs, reward, ended, result[3], info, "5-tuple")
    if len(result) > 5:
        return None
    if len(result) == 4 and not informed and _flags(result[3], strict=True):
        return _step(obs, reward, ended, result[3], info, "4-tuple, no info")
    if len(result) == 4 or (len(result) == 5 and beside):
        return _step(obs, reward, ended, None, info, "4-tuple")
    if len(result) == 3:
        # Some hand back the reward first. A scalar done with a wide second place leaves no doubt.
        if _size(ended) == 0 and _size(reward) not in (0, 1) and _size(obs) == 0 and not isinstance(obs, bool):
            obs, reward = reward, obs
        return _step(obs, reward, ended, None, info, "3-tuple")
    return None


def _beside_first(result: tuple[Any, ...]) -> bool:
    """Whether something that is no reward comes second: a mask, a state. A reward and then a flag leave no doubt."""
    if len(result) < 4 or isinstance(result[1], _NUMBERS) or _size(result[2]) != 0 or not _rewards(result[2]):
        return False
    if _size(result[3]) != 0 or not _flags(result[3], strict=True) or _size(result[0]) in (0, 1):
        return False
    return isinstance(result[1], dict) or np.ndim(_first_of(result[1])) > 0 or (_size(result[1]) or 0) > 1


def _first_of(value: Any) -> Any:
    """An array, or what a list begins with."""
    return (value[0] if value else None) if type(value) in (list, tuple) else host(value)


def _alike(value: Any, obs: Any) -> bool:
    """A second batch of observations: those of before a reset, beside those of after it."""
    if value is obs or type(value) is not type(obs) or not isinstance(value, (np.ndarray, torch.Tensor)):
        return False
    return value.ndim > 1 and (value.shape, value.dtype) == (obs.shape, obs.dtype)


def _from_fields(fields: Mapping[str, Any]) -> Step | None:
    obs, reward = _first(fields, _OBS), _first(fields, _REWARD)
    if obs is None or reward is None:
        return None
    if "step_type" in fields and "discount" in fields:  # dm_env.TimeStep
        return _from_time_step(fields[obs], fields[reward], fields["step_type"], fields["discount"])
    terminated, truncated, done = _first(fields, _TERMINATED), _first(fields, _TRUNCATED), _first(fields, _DONE)
    ended = terminated or done
    if ended is None or not _flags(fields[ended], strict=False):
        return None
    info = fields.get("info") if isinstance(fields.get("info"), dict) else {}
    cut = fields[truncated] if truncated is not None else None
    return _step(fields[obs], fields[reward], fields[ended], cut, info, "fields")


def _from_time_step(obs: Any, reward: Any, kind: Any, discount: Any) -> Step | None:
    """The last step of an episode with a discount of 0 is its end, with another it was cut off."""
    if np.ndim(kind):  # of a pool of environments
        last, over = np.ravel(kind) == _LAST, np.ravel(discount) == 0.0
        return _step(getattr(obs, "obs", obs), reward, last & over, last & ~over, {}, "TimeStep")
    last = int(kind) == _LAST
    over = number(discount) == 0.0
    return _step(obs, 0.0 if reward is None else reward, last and over, last and not over, {}, "TimeStep")


def _step(obs: Any, reward: Any, ended: Any, cut: Any, info: Any, api: str) -> Step | None:
    """`cut` None: the flag says done, and only the info can tell that it was the time limit."""
    if isinstance(reward, dict) or obs is None or not _rewards(reward):
        return None
    count, flags = _size(reward), _size(ended)
    obs, reward, ended = host(obs), host(reward), host(ended)
    if count and not flags and leading(obs) != count:
        return Step(obs, math.nan, *_ends(ended, cut, info), finals(info, ended, 1, obs), 1, api)  # several objectives
    if not count or (count == 1 and not flags):
        return Step(obs, number(reward), *_ends(ended, cut, info), finals(info, ended, 1, obs), 1, api)
    rewards = np.full(count, math.nan) if reward is None else np.asarray(reward, np.float64).reshape(-1)
    ends = np.broadcast_to(False if ended is None else np.asarray(ended).astype(bool).reshape(-1), (count,))
    if cut is None:
        cuts = _limits(info, count) & ends
        ends = ends & ~cuts
    else:
        cut = host(cut)
        cuts = np.broadcast_to(False if cut is None else np.asarray(cut).astype(bool).reshape(-1), (count,))
    final = finals(info, ends | cuts, count, obs)
    if count == 1:
        obs = row(obs, 0) if leading(obs) == 1 and np.ndim(obs) > 1 else obs
        return Step(obs, float(rewards[0]), bool(ends[0]), bool(cuts[0]), final, 1, api)
    return Step(batch(obs, count), rewards, ends, cuts, final, count, api)


def _ends(ended: Any, cut: Any, info: Any) -> tuple[bool, bool]:
    over = bool(number(ended) == 1.0)
    if cut is not None:
        return over, bool(number(cut) == 1.0)
    limit = over and isinstance(info, dict) and _out_of_time(info)
    return over and not limit, limit


def _out_of_time(info: dict[str, Any]) -> bool:
    """As Gym said it beside its one flag, and as environments that return one say it themselves."""
    told = (info.get(name) for name in _LIMIT)
    return any(isinstance(each, (bool, int, np.bool_)) and each == 1 for each in told)


def _limits(info: Any, lanes: int) -> np.ndarray:
    if isinstance(info, dict):
        told = info.get("TimeLimit.truncated")
        infos: Sequence[Any] = [] if told is None or np.size(told) != lanes else [*np.ravel(told)]
        return np.array(infos or [False] * lanes, dtype=bool)
    told = [isinstance(each, dict) and _out_of_time(each) for each in info]
    return np.array(told if len(told) == lanes else [False] * lanes, dtype=bool)


def finals(info: Any, done: Any, lanes: int, obs: Any, batched: bool = False) -> list[Any] | None:
    """The last observations of the episodes that ended in this step, where the environment has reset itself already."""
    if isinstance(info, np.ndarray) and lanes > 1 and np.any(done):  # an array like the observations, beside them
        alike = isinstance(obs, np.ndarray) and (info.shape, info.dtype) == (obs.shape, obs.dtype)
        alike = alike and (bool(np.all(done)) or _parts_at_ends(info, obs, done))
        return [info[lane] if each else None for lane, each in enumerate(np.ravel(done))] if alike else None
    if not isinstance(info, (dict, list)) or not info or not np.any(done):
        return None
    if isinstance(info, list):
        infos = [one if isinstance(one, dict) else {} for one in info[:lanes]]
        each = [next((host(one[name]) for name in _FINAL if name in one), None) for one in infos]
        return each if any(one is not None for one in each) else None
    found = next((info[name] for name in _FINAL if info.get(name) is not None), None)
    if found is None and lanes > 1:
        found = next((each for each in map(host, info.values()) if _parts_at_ends(each, obs, done)), None)
    if found is None:
        return None
    if lanes > 1 or batched:
        if isinstance(found, dict):
            return None  # Gymnasium's own come in an array of objects
        ended = np.broadcast_to(np.asarray(done, dtype=bool), (lanes,))
        return [host(found[lane]) if ended[lane] else None for lane in range(lanes)] if len(found) == lanes else None
    # Some put it there without having reset: then it is the observation itself.
    found = host(found)
    return None if found is obs or _equal(found, obs) else [found]


def _parts_at_ends(value: Any, obs: Any, done: Any) -> bool:
    """A batch under another name that is the observations, but where episodes have ended."""
    if not isinstance(value, np.ndarray) or not _alike(value, obs) or len(value) != np.size(done):
        return False
    same = (value == obs).reshape(len(value), -1).all(axis=1)
    return bool(np.array_equal(same, ~np.ravel(done).astype(bool)) and same.any())


def plain_batch(lanes: int, action: Any, result: Any) -> tuple[Any, ...] | None:
    """Gymnasium's five of a vector of environments, where all are arrays with a row for each: observations, rewards,
    two flags, last observations, and whether an episode ended."""
    if type(result) is not tuple or len(result) != 5:
        return None
    obs, reward, terminated, truncated, info = result
    if not type(obs) is type(reward) is type(terminated) is type(truncated) is type(action) is np.ndarray:
        return None
    if not (reward.shape == terminated.shape == truncated.shape == action.shape[:1] == obs.shape[:1] == (lanes,)):
        return None
    if obs.dtype == object or reward.dtype == object or terminated.dtype != bool or truncated.dtype != bool:
        return None
    ends, cuts = terminated.tolist(), truncated.tolist()  # quicker than any(), for few
    if True not in ends and True not in cuts:
        return obs, reward, terminated, truncated, None, False
    found = info.get("final_obs") if type(info) is dict else None
    if type(found) is np.ndarray and found.dtype == object and found.shape == (lanes,):
        last = [host(each) if end or cut else None for each, end, cut in zip(found, ends, cuts, strict=True)]
        return obs, reward, terminated, truncated, last, True
    final = finals(info, terminated | truncated, lanes, None, batched=True) if info else None
    return obs, reward, terminated, truncated, final, True


def leading(value: Any) -> int | None:
    """Length of the first axis of a batch."""
    if isinstance(value, dict):
        return next((leading(each) for each in value.values()), None)
    if isinstance(value, tuple):
        return leading(value[0]) if value else None
    if isinstance(value, list):
        return len(value)
    shape: Any = getattr(value, "shape", ())
    return int(shape[0]) if len(shape) else None


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_equal, one, other))
    return bool(np.array_equal(np.asarray(one), np.asarray(other)))


def _fields(result: Any) -> Mapping[str, Any] | None:
    if isinstance(result, dict):
        return result if all(isinstance(key, str) for key in result) else None
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return dict(zip(result._fields, result, strict=True))
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        return vars(result) if hasattr(result, "__dict__") else None
    return None


def _first(fields: Mapping[str, Any], names: Sequence[str]) -> str | None:
    return next((name for name in names if name in fields), None)
