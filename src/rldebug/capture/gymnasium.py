"""The environment, by replacing `step` and `reset` on the instance: the user goes on using the same object.

Works on any object with `reset` and `step` of the Gymnasium 1.x signature, single or vectorised, and understands the
three autoreset modes: in `NEXT_STEP` mode the step after an ending is a reset, not a transition, and is not counted.
The dicts of PettingZoo's parallel environments, and the TimeSteps of dm_env, are understood too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from rldebug.capture.env_results import understand
from rldebug.rollout import Episodes

_KEPT = 4096  # episodes between two readings; a phase without updates must not grow memory
_LOOK_EVERY = 16  # steps between looks at observation and action values


@dataclass
class EnvWatch:
    env: Any
    failed: Callable[[str], None]
    on_step: Callable[[], None]
    info_keys: Sequence[str] = ()

    steps: int = 0
    stepped_after_end: int = 0
    ended_again: int = 0  # of those steps, how many were flagged as an end again; an env that resets itself flags few
    returns: list[float] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    terminated: int = 0
    truncated: int = 0
    reward_sum: float = 0.0
    counted: int = 0
    bad_obs: int = 0
    bad_action: int = 0
    outside: int = 0
    looked: int = 0
    _off: bool = False
    _inside: bool = False  # a step is under way
    _mode: str = "disabled"
    _running: Any = None  # per env: return and length of the episode under way, and whether it has ended
    _info: dict[str, list[float]] = field(default_factory=dict)
    _actions: dict[int, int] = field(default_factory=dict)
    _calls: int = 0
    _originals: dict[str, Any] = field(default_factory=dict)
    _stand_ins: dict[str, _StandIn] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("step", "reset"):
            if not callable(getattr(self.env, name, None)):
                raise TypeError(
                    f"rldebug.watch(env=...): {type(self.env).__name__} has no {name}(); expected a Gymnasium-style "
                    "environment with reset() and step()"
                )
        if not hasattr(self.env, "__dict__"):
            raise TypeError(
                f"rldebug.watch(env=...): step() and reset() of {type(self.env).__name__} cannot be replaced, because "
                "its class has __slots__; expected an ordinary object: add '__dict__' to the slots, or wrap it"
            )

    def attach(self) -> None:
        self._mode = self._autoreset()
        self._originals = {name: self.env.__dict__.get(name) for name in ("step", "reset")}
        self._stand_ins = {
            "step": _StandIn(self.env.step, self._stepped),
            "reset": _StandIn(self.env.reset, self._reset),
        }
        for name, each in self._stand_ins.items():
            setattr(self.env, name, each)

    def detach(self) -> None:
        self._off = True
        for name, original in self._originals.items():
            if self.env.__dict__.get(name) is not self._stand_ins[name]:
                continue  # somebody has put something on top of ours: it stays, and finds ours switched off
            if original is None:
                self.env.__dict__.pop(name, None)
            else:
                setattr(self.env, name, original)
        self._originals = {}

    def _stepped(self, step: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        self._inside = True
        try:
            result = step(*args, **kwargs)
        finally:
            self._inside = False
        if not self._off:
            action = args[0] if args else next(iter(kwargs.values()), None)
            self._sandbox(self._saw_step, action, result)
        return result

    def _reset(self, reset: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        options = kwargs.get("options")
        mask = options.get("reset_mask") if isinstance(options, dict) else None  # now: Gymnasium takes it out of there
        result = reset(*args, **kwargs)
        if not self._off and not self._inside:  # one that a step calls is part of that step
            self._sandbox(self._saw_reset, mask)
        return result

    def facts(self) -> dict[str, Any]:
        space = getattr(self.env, "single_action_space", None) or getattr(self.env, "action_space", None)
        actions = getattr(space, "n", None)
        spec = getattr(self.env, "spec", None)
        name = getattr(spec, "id", type(self.env).__name__)
        registered = getattr(sys.modules.get("gymnasium"), "registry", {}).get(name)
        return {
            "id": name,
            "vector": self._vector(),
            "autoreset": self._autoreset(),
            "actions": None if actions is None else int(actions),
            "time_limit": getattr(spec, "max_episode_steps", None),
            "registered_limit": getattr(registered, "max_episode_steps", None),  # stays when the wrapper is taken off
            "stepped_after_end": self.stepped_after_end,
            "ended_again": self.ended_again,
        }

    def action_bounds(self) -> tuple[np.ndarray, np.ndarray] | None:
        space = getattr(self.env, "single_action_space", None) or getattr(self.env, "action_space", None)
        low, high = getattr(space, "low", None), getattr(space, "high", None)
        if not isinstance(low, np.ndarray) or not isinstance(high, np.ndarray):
            return None
        return (low, high) if bool(np.isfinite(low).all() and np.isfinite(high).all()) else None

    def take(self) -> Episodes | None:
        """What happened since the last call."""
        if not self.counted:
            return None
        seen = Episodes(
            returns=np.array(self.returns),
            lengths=np.array(self.lengths),
            terminated=self.terminated,
            truncated=self.truncated,
            reward_sum=self.reward_sum,
            steps=self.counted,
        )
        self.returns, self.lengths = [], []
        self.terminated = self.truncated = self.counted = 0
        self.reward_sum = 0.0
        return seen

    def take_numbers(self) -> dict[str, float]:
        """Readings that are simple counts: user metrics from `info`, actions taken, values that are not numbers."""
        numbers = {f"env/{key}": float(np.mean(values)) for key, values in self._info.items() if values}
        self._info = {}
        if self._actions:
            numbers["env/action_mode_share"] = max(self._actions.values()) / sum(self._actions.values())
            self._actions = {}
        if self.looked:
            numbers["env/obs_nonfinite"] = self.bad_obs / self.looked
            numbers["env/action_nonfinite"] = self.bad_action / self.looked
            numbers["env/action_outside"] = self.outside / self.looked
            self.looked = self.bad_obs = self.bad_action = self.outside = 0
        return numbers

    # ── the hooks ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _sandbox(self, look: Callable[..., None], *args: Any) -> None:
        try:
            look(*args)
        except Exception:
            self._off = True
            self.failed("environment hook")

    def _saw_reset(self, mask: Any) -> None:
        if self._running is None:
            return
        chosen = slice(None) if mask is None else np.asarray(mask, dtype=bool)
        for each in self._running:
            each[chosen] = 0

    def _saw_step(self, action: Any, result: Any) -> None:
        self.on_step()  # before this step is counted: a line that is still open ends with the step before
        obs, reward, terminated, truncated, info, there = _five_of(result, self._agents())
        reward = np.atleast_1d(np.asarray(reward, dtype=np.float64))
        terminated = np.atleast_1d(np.asarray(terminated, dtype=bool))
        truncated = np.atleast_1d(np.asarray(truncated, dtype=bool))
        if self._running is None or len(self._running[0]) != len(reward):
            self._running = (np.zeros(len(reward)), np.zeros(len(reward), dtype=np.int64), np.zeros(len(reward), bool))
        total, length, ended = self._running
        live = ~ended & there
        if bool((ended & there).any()):
            if self._mode == "next-step":
                total[ended] = 0.0
                length[ended] = 0
                ended[:] = False
            else:
                self.stepped_after_end += int((ended & there).sum())
                self.ended_again += int((ended & there & (terminated | truncated)).sum())
        total += np.where(live, reward, 0.0)
        length += live
        count = int(live.sum())
        self.steps += count
        self.counted += count
        self.reward_sum += float(reward[live].sum())
        over = (terminated | truncated) & live
        if over.any():
            self.returns += total[over].tolist()
            self.lengths += length[over].tolist()
            self.terminated += int((terminated & over).sum())
            self.truncated += int((truncated & ~terminated & over).sum())
            total[over] = 0.0
            length[over] = 0
            if self._mode != "same-step":
                ended |= over
            del self.returns[:-_KEPT], self.lengths[:-_KEPT]
        self._count_actions(action)
        if self.info_keys and isinstance(info, dict):
            self._collect_info(info)
        if self._calls % _LOOK_EVERY == 0:
            self._look(obs, action)
        self._calls += 1

    def _count_actions(self, action: Any) -> None:
        if isinstance(action, (int, np.integer)):
            self._actions[int(action)] = self._actions.get(int(action), 0) + 1
        elif isinstance(action, np.ndarray) and action.dtype.kind in "iu" and action.ndim <= 1:
            for each in np.atleast_1d(action).tolist():
                self._actions[each] = self._actions.get(each, 0) + 1

    def _collect_info(self, info: dict[str, Any]) -> None:
        for key in self.info_keys:
            if key not in info:
                continue
            value, mask = np.asarray(info[key]), info.get(f"_{key}")
            if value.dtype.kind not in "fiub":
                continue
            chosen = value[np.asarray(mask, dtype=bool)] if mask is not None and value.ndim else value
            kept = self._info.setdefault(key, [])
            kept.extend(np.atleast_1d(chosen).astype(float).tolist())
            del kept[:-_KEPT]

    def _look(self, obs: Any, action: Any) -> None:
        self.looked += 1
        if isinstance(obs, np.ndarray) and obs.dtype.kind == "f":
            self.bad_obs += not bool(np.isfinite(obs).all())
        if isinstance(action, np.ndarray) and action.dtype.kind == "f":
            self.bad_action += not bool(np.isfinite(action).all())
            bounds = self.action_bounds()
            if bounds is not None:
                self.outside += bool(((action < bounds[0]) | (action > bounds[1])).any())

    def _wrapped(self, *names: str) -> bool:
        """Whether a wrapper of such a class is somewhere around the environment."""
        env, seen = self.env, 0
        while env is not None and seen < 64:
            if any(each.__name__ in names for each in type(env).__mro__):
                return True
            env, seen = getattr(env, "__dict__", {}).get("env"), seen + 1
        return False

    def _agents(self) -> list[Any]:
        """Of an environment of several agents: all that may ever take part."""
        asked = callable(getattr(self.env, "observation_space", None))
        return list(getattr(self.env, "possible_agents", ())) if asked else []

    def _vector(self) -> bool:
        return isinstance(getattr(self.env, "num_envs", None), int)

    def _autoreset(self) -> str:
        if callable(getattr(self.env, "observation_spec", None)) and not hasattr(self.env, "observation_space"):
            return "next-step"  # dm_env: a step after the last one starts the next episode
        if not self._vector():
            return "next-step" if self._wrapped("Autoreset", "AutoResetWrapper") else "disabled"
        mode = (getattr(self.env, "metadata", None) or {}).get("autoreset_mode")
        name = str(getattr(mode, "name", mode or "NEXT_STEP"))
        return name.lower().replace("_", "-").replace("nextstep", "next-step").replace("samestep", "same-step")


def _five_of(result: Any, agents: list[Any]) -> tuple[Any, Any, Any, Any, Any, Any]:
    """Gymnasium's five, and of which lanes they are: of several agents, those that are still there."""
    if agents and isinstance(result, tuple) and isinstance(result[1], dict):
        obs, reward, terminated, truncated, info = result
        columns = [[given.get(each, 0) for each in agents] for given in (reward, terminated, truncated)]
        return list(obs.values()), *columns, info, np.array([each in reward for each in agents])
    if hasattr(result, "step_type"):
        step = understand(result)
        if step is None:
            raise ValueError(f"a TimeStep of which reward or observation cannot be read: {type(result).__name__}")
        return step.obs, step.reward, step.terminated, step.truncated, {}, True
    return *result, True


class _StandIn:
    """Takes the place of a method on the environment. A copy or pickle of the environment gets the method, not this."""

    __slots__ = ("original", "seen_by")

    def __init__(self, original: Callable[..., Any], seen_by: Callable[..., Any]) -> None:
        self.original, self.seen_by = original, seen_by

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.seen_by(self.original, *args, **kwargs)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial, (self.original,)
