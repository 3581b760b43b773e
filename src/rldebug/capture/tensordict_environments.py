"""Environments of TorchRL: what they take and give lies in one TensorDict, under keys that their specs name.

What the outermost of them hands over is told: after its transforms, which is what networks are given. A `step` is told
when it returns, a reset of some lanes with those alone. A batch of processes may step and reset in one call.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from rldebug.capture.env_calls import GROUP, shared_by
from rldebug.capture.env_facts import attribute, facts_of, lying_in
from rldebug.capture.env_identity import IdentityWatch
from rldebug.capture.env_results import host
from rldebug.capture.imports import when_imported
from rldebug.capture.switch import Switchboard

_DEEP = 64  # environments around environments
_SET = object()  # in place of a seed: the one that was set before


class TorchRL(IdentityWatch):
    kind = "torchrl"
    methods = {"reset": "reset", "step": "step", "set_seed": "seeded"}  # noqa: RUF012

    def __init__(self, shared: Any) -> None:
        super().__init__(shared)
        self.layouts: WeakKeyDictionary[Any, Layout] = WeakKeyDictionary()

    def wrap(self, cls: type) -> None:
        super().wrap(cls)
        # Elsewhere it calls `step` and `reset` of the same environment, which are told.
        if cls.__name__ != "EnvBase" and isinstance(vars(cls).get("step_and_maybe_reset"), FunctionType):
            self.wrap_method(cls, "step_and_maybe_reset", "step")

    def innermost(self, env: Any) -> Any:
        return layers_of(env)[-1]

    def lanes_of(self, env: Any) -> tuple[int, bool]:
        return max(int(env.batch_size.numel()), 1), bool(len(env.batch_size))

    def facts(self, env: Any) -> dict[str, Any]:
        return _facts(env)

    def layout(self, env: Any) -> Layout:
        found = self.layouts.get(env)
        if found is None:
            found = self.layouts[env] = Layout(env)
        return found

    # ── the calls ───────────────────────────────────────────────────────────────────────────────────────────────────

    def step(self, original: Any, env: Any, args: Any, kwargs: Any) -> Any:
        if GROUP in self.off:
            return original(env, *args, **kwargs)
        action = self.switch.guard(GROUP, self.action_in, env, args[0] if args else kwargs.get("tensordict"))
        result = self.call(original, env, args, kwargs)
        self.tell(self.saw_step, env, action, result)
        return result

    def action_in(self, env: Any, given: Any) -> Any:
        return self.layout(env).action(given)

    def asked_of(self, original: Any, env: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """The seed that was set before; and which lanes, as `_reset` in what it is given says."""
        given = args[0] if args else kwargs.get("tensordict")
        mask = None if given is None else given.get("_reset", None)
        if mask is None or not len(env.batch_size):
            return _SET, None
        return None, host(mask).reshape(self.lanes_of(env)[0], -1).any(axis=1)

    # ── what is seen ────────────────────────────────────────────────────────────────────────────────────────────────

    def saw_reset(self, env: Any, result: Any, seed: Any, mask: Any) -> None:
        known = self.known_as(env)
        if seed is _SET:
            seed, known.sent = known.sent, None
        self.log.reset(known.inner(), self.layout(env).observation(result), seed, known.lanes, mask)

    def saw_step(self, env: Any, action: Any, result: Any) -> None:
        known, layout = self.known_as(env), self.layout(env)
        self.shared.renewed = False
        result, begun = result if isinstance(result, tuple) else (result, None)
        after = result.get("next")
        rewards = layout.numbers(after, "reward")
        ends, cuts = layout.ends(after)
        if rewards is None or ends is None:
            self.saw_nothing(known)
            return
        obs = layout.observation(after)
        if known.lanes == 1:
            self.log.step(known.inner(), action, obs, float(rewards[0]), bool(ends[0]), bool(cuts[0]), None)
        else:
            self.log.step(known.inner(), action, obs, rewards, ends, cuts, None)
        if begun is not None and (ends | cuts).any():
            mask = (ends | cuts) if known.lanes > 1 else None
            self.log.reset(known.inner(), layout.observation(begun), None, known.lanes, mask)


class Layout:
    """Where things lie in the TensorDicts of one environment, and how."""

    def __init__(self, env: Any) -> None:
        self.axes = len(env.batch_size)
        self.lanes = max(int(env.batch_size.numel()), 1)
        self.observed = _observed(env)
        keys = env.action_keys
        self.acted = keys[0] if len(keys) == 1 else None
        self.kind = type(env.full_action_spec[keys[0]]).__name__ if len(keys) == 1 else ""

    def numbers(self, given: Any, key: str) -> Any:
        """One for each lane; None where there are none, or several."""
        value = host(given.get(key, None))
        return value.reshape(self.lanes) if isinstance(value, np.ndarray) and value.size == self.lanes else None

    def ends(self, after: Any) -> tuple[Any, Any]:
        """Where an environment only says that it is done, it has terminated: TorchRL takes it so."""
        done, ended, cut = (self.numbers(after, key) for key in ("done", "terminated", "truncated"))
        return done if ended is None else ended, np.zeros(self.lanes, dtype=bool) if cut is None else cut

    def action(self, given: Any) -> Any:
        """A copy, made before the call; of one-hot rows the places."""
        value = None if self.acted is None else host(given.get(self.acted, None))
        if not isinstance(value, np.ndarray):
            return [None] * self.lanes if self.lanes > 1 else None
        rows = self._rows(value)
        if self.kind == "OneHot":
            rows = rows.argmax(axis=-1)
        elif self.kind == "Categorical" and rows.size == self.lanes:
            rows = rows.reshape(self.lanes)
        return rows.copy() if self.lanes > 1 else rows[0].copy()

    def observation(self, given: Any) -> Any:
        found = {str(key): host(given.get(key, None)) for key in self.observed}
        rows = {key: self._rows(value) for key, value in found.items() if isinstance(value, np.ndarray)}
        if not rows:
            return [None] * self.lanes if self.lanes > 1 else None
        if len(rows) == 1:
            [only] = rows.values()
            return only if self.lanes > 1 else only[0]
        each = [{key: value[lane] for key, value in rows.items()} for lane in range(self.lanes)]
        return each if self.lanes > 1 else each[0]

    def _rows(self, value: np.ndarray) -> np.ndarray:
        return value.reshape(self.lanes, *value.shape[self.axes :])


# ── what an environment says of itself ──────────────────────────────────────────────────────────────────────────────


def layers_of(env: Any) -> list[Any]:
    """The environment, what it transforms, and so on inwards, as far as they are TorchRL's."""
    layers = [env]
    for _ in range(_DEEP):
        inner = vars(layers[-1]).get("_modules", {}).get("base_env")
        if inner is None:
            break
        layers.append(inner)
    return layers


def _first_of(env: Any) -> Any:
    """The innermost environment; of a batch that is in this process, that of its first lane."""
    inner = layers_of(env)[-1]
    batch = attribute(inner, "_envs")
    return _first_of(batch[0]) if isinstance(batch, (list, tuple)) and batch else inner


def _facts(env: Any) -> dict[str, Any]:
    layers = layers_of(env)
    first = _first_of(env)
    foreign = attribute(first, "_env")
    inside = foreign if foreign is not None and lying_in(type(foreign), "step") is not None else first
    facts = facts_of(inside)
    specs = [env.full_observation_spec[key] for key in _observed(env)]
    wrappers = [type(each).__name__ for each in layers[:-1]]
    facts |= {
        "wrappers": [*wrappers, *facts["wrappers"]],
        "instances": None,
        "worlds": [id(layers[-1])],
        **_spec_facts("obs", specs[0] if len(specs) == 1 else None, len(env.batch_size)),
        "transforms": [type(each).__name__ for layer in layers for each in _transforms(layer)],
    }
    if len(env.action_keys) == 1:
        facts |= _spec_facts("action", env.full_action_spec[env.action_keys[0]], len(env.batch_size))
    limits = [attribute(each, "max_steps") for layer in layers for each in _transforms(layer)]
    told = [each for each in (*limits, facts["time_limit"]) if isinstance(each, int)]
    facts["time_limit"] = min(told, default=None)
    return facts


def _transforms(layer: Any) -> list[Any]:
    transform = vars(layer).get("_modules", {}).get("_transform") or vars(layer).get("_modules", {}).get("transform")
    if transform is None:
        return []
    parts = vars(transform).get("_modules", {}).get("transforms")
    return [*parts] if parts is not None else [transform]


def _spec_facts(what: str, spec: Any, batched: int) -> dict[str, Any]:
    """As of a space of Gymnasium's: names of ours are told by those."""
    if spec is None:
        return {f"{what}_space": "Dict", f"{what}_shape": None} if what == "obs" else {}
    kind, shape = type(spec).__name__, [int(each) for each in spec.shape[batched:]]
    if kind in ("OneHot", "Categorical"):
        count = int(spec.space.n)
        return {f"{what}_space": "Discrete", f"{what}_n": count, f"{what}_shape": [] if what == "action" else shape}
    low, high = _bounds(spec, max(int(np.prod(shape)), 1))
    facts: dict[str, Any] = {f"{what}_space": "Box", f"{what}_shape": shape, f"{what}_n": None}
    if what == "action":
        return facts | {"action_low": low, "action_high": high}
    return facts | {
        "obs_dtype": str(spec.dtype).removeprefix("torch."),
        "obs_low": None if low is None else min(low),
        "obs_high": None if high is None else max(high),
    }


def _bounds(spec: Any, size: int) -> tuple[list[float] | None, list[float] | None]:
    """Of one lane; None where there are none."""
    found = [host(getattr(spec.space, name, None)) for name in ("low", "high")]
    bounded = any(base.__name__ == "Bounded" for base in type(spec).__mro__)
    if not bounded or any(each is None or not np.isfinite(each).all() for each in found):
        return None, None
    low, high = (each.reshape(-1)[-size:].astype(float).tolist() for each in found)
    return low, high


def _observed(env: Any) -> list[Any]:
    """The keys of what is observed. Transforms add what is no observation: steps so far, rewards so far. Where the
    environments are in other processes, and only the whole is known, single numbers are taken for such."""
    here, first = list(env.observation_keys), _first_of(env)
    own = list(first.observation_keys)
    wide = [key for key in here if env.full_observation_spec[key].shape[len(env.batch_size) :].numel() > 1]
    apart = attribute(first, "num_workers") is not None
    return (None if apart else [key for key in here if key in own]) or wide or here


def install(switch: Switchboard, log: Any) -> None:
    shared = shared_by(switch, log)
    when_imported(switch, GROUP, "torchrl.envs.common", lambda module: TorchRL(shared).cover(module.EnvBase))
