"""Stable-Baselines3 and sb3-contrib: a callback that watches `learn` and says what is wrong.

    model.learn(100_000, callback=RLDebugCallback(run="cartpole"))

Every algorithm of either library, and classes derived from them. What the networks, the losses and the environments do
is seen without help; the callback hands over what the library's own buffers hold, and what its settings are.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from rldebug.attach import Attached, attach
from rldebug.finding import Report
from rldebug.integrations.handing_over import Pace, drawn, harmless

try:
    from stable_baselines3.common.callbacks import BaseCallback
except ImportError as error:
    raise ImportError(
        f"rldebug.integrations.sb3 needs stable-baselines3, which cannot be imported here ({error}): "
        "pip install 'rldebug[sb3]'"
    ) from error

_GROUP = "integrations/sb3"


class RLDebugCallback(BaseCallback):  # type: ignore[misc,unused-ignore]
    """Watches from the beginning of `learn` to its end, which prints the diagnosis.

    run      what the run is called; it is kept in `folder/run`. The name of the algorithm unless given
    quiet    print nothing: `report` has the diagnosis

    As a context manager it watches the whole block: the making of environments, evaluation after `learn`, and what
    is raised.

        with RLDebugCallback() as watch:
            model.learn(100_000, callback=watch)
            evaluate_policy(model, evaluation_env)
    """

    def __init__(
        self,
        run: str = "",
        *,
        folder: str | Path = ".rldebug/runs",
        select: tuple[str, ...] | list[str] = (),
        ignore: tuple[str, ...] | list[str] = (),
        overhead_budget: float | None = None,
        quiet: bool = False,
    ) -> None:
        super().__init__()
        self.dbg: Attached | None = None
        self.report: Report | None = None
        self._run, self._quiet = run, quiet
        self._options: dict[str, Any] = {
            "folder": folder, "select": select, "ignore": ignore, "overhead_budget": overhead_budget, "quiet": quiet,
        }  # fmt: skip
        self._for_a_block = False
        self._said = False
        self._ends: list[tuple[Any, Any, Any]] = []  # of each step: rewards, and which episodes ended and were cut off
        self._pace = Pace()

    def __enter__(self) -> RLDebugCallback:
        self._for_a_block = True
        self._begin(self._run or "sb3")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._for_a_block = False
        self.close(error)

    def close(self, error: BaseException | None = None) -> Report | None:
        """The diagnosis; nothing is watched any more. `learn` calls it, unless it raises, or is called in a block."""
        global _unfinished
        if self.dbg is not None:
            self.report = self.dbg.close(error)
            self.dbg = None
        if _unfinished is self:
            _unfinished = None
        return self.report

    # ── what the library calls ──────────────────────────────────────────────────────────────────────────────────────

    def _init_callback(self) -> None:
        if self.dbg is None:
            self._begin(self._run or type(self.model).__name__.lower())
        self._ends.clear()
        self._pace = Pace()
        self._harmless(lambda dbg: dbg.declare(**settings_of(self.model)))
        unseen = not_seen(self.model)
        if unseen and not self._quiet and not self._said:
            self._said = True
            print(f"rldebug: {unseen}", file=sys.stderr)

    def _on_step(self) -> bool:
        if getattr(self.model, "rollout_buffer", None) is not None:
            self._harmless(self._remember)
        return True

    def _on_rollout_end(self) -> None:
        if getattr(self.model, "rollout_buffer", None) is not None:
            self._harmless(self._hand_rollout)
            self._ends.clear()
        elif getattr(self.model, "replay_buffer", None) is not None and self._pace.due(self.model.num_timesteps):
            self._harmless(self._hand_replay)

    def _on_training_end(self) -> None:
        if not self._for_a_block:
            self.close()

    # ── how ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def _begin(self, name: str) -> None:
        global _unfinished
        left = _unfinished
        if left is not None and left is not self and not left._for_a_block and not _is_learning(left):
            left.close(getattr(sys, "last_value", None))  # its `learn` raised, and somebody caught that
        self.report = None
        self.dbg = attach(run=name, **self._options)
        if not self.dbg.joined:
            _unfinished = self

    def _harmless(self, what: Callable[[Attached], None]) -> None:
        harmless(_GROUP, self.dbg, what)

    def _remember(self, dbg: Attached) -> None:
        """Before the library adds the value of the last observation to the reward of a step that was cut off."""
        seen = self.locals
        done = np.asarray(seen["dones"], dtype=bool)
        cut = np.zeros_like(done)
        if done.any():
            cut |= done & np.array([bool(each.get("TimeLimit.truncated", False)) for each in seen["infos"]])
        self._ends.append((np.array(seen["rewards"]), done & ~cut, cut))

    def _hand_rollout(self, dbg: Attached) -> None:
        held = self.model.rollout_buffer
        given: dict[str, Any] = {"value": held.values, "logp": held.log_probs, "action": _of_steps(held.actions)}
        if isinstance(held.observations, np.ndarray):
            given["obs"] = held.observations
        if len(self._ends) == len(held.values):
            columns = zip(*self._ends, strict=True)
            given |= dict(zip(("reward", "terminated", "truncated"), map(np.stack, columns), strict=True))
        copies: dict[str, Any] = {name: np.array(each) for name, each in given.items()}
        dbg.rollout(**copies)

    def _hand_replay(self, dbg: Attached) -> None:
        """Rows as the environment gave them."""
        held = self.model.replay_buffer
        filled = held.buffer_size if held.full else held.pos
        if filled < 2:
            return
        draw = np.random.default_rng(self.model.num_timesteps)
        rows = drawn(filled, draw)
        lanes = draw.integers(held.n_envs, size=len(rows))
        ended, cut = held.dones[rows, lanes] > 0, held.timeouts[rows, lanes] > 0
        given = {
            "action": _of_steps(held.actions)[rows, lanes],
            "reward": held.rewards[rows, lanes],
            "terminated": ended & ~cut,
            "truncated": ended & cut,
        }
        before, after = held.observations, getattr(held, "next_observations", None)  # one array where memory is saved
        if isinstance(before, np.ndarray) and isinstance(after, np.ndarray):
            given |= {"obs": before[rows, lanes], "next_obs": after[rows, lanes]}
        dbg.replay(**given)


_unfinished: RLDebugCallback | None = None  # watches; where its `learn` raised, the next one ends it


def _is_learning(callback: RLDebugCallback) -> bool:
    """Whether its `learn` is under way: this one is called from within."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "learn" and frame.f_locals.get("self") is callback.model:
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


def _of_steps(actions: Any) -> Any:
    """(T, B, …): a choice is stored as a column of one."""
    return actions[..., 0] if actions.ndim == 3 and actions.shape[-1] == 1 and actions.dtype.kind in "iu" else actions


def settings_of(model: Any) -> dict[str, Any]:
    """What it was made with: each argument of its classes that it keeps and that is a number, a text or a switch."""
    told: dict[str, Any] = {"algorithm": type(model).__name__, "library": type(model).__module__.partition(".")[0]}
    for kind in reversed(type(model).__mro__):
        code = getattr(vars(kind).get("__init__"), "__code__", None)
        for name in code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount] if code is not None else ():
            plain = _plain(getattr(model, name, None))
            if plain is not None:
                told[name] = plain
    told["policy"] = type(model.policy).__name__
    if model.env is not None:
        told["n_envs"] = int(model.n_envs)
    normalised = model.get_vec_normalize_env()
    if normalised is not None:
        names = ("norm_obs", "norm_reward", "training", "gamma", "clip_obs", "clip_reward")
        told["vec_normalize"] = {name: _plain(getattr(normalised, name, None)) for name in names}
    return told


def _plain(value: Any) -> Any:
    """As it can be written down. Schedules of the library are constant or linear; a user's own is not called."""
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if callable(value) and type(value).__module__ == "stable_baselines3.common.utils":
        return float(value(1.0))
    frequency = getattr(value, "frequency", None)
    return _plain(frequency) if frequency is not None else None


def not_seen(model: Any) -> str:
    """What there is nothing to see of, in an algorithm without gradients."""
    if hasattr(model, "rollout_buffer") or hasattr(model, "replay_buffer"):
        return ""
    return (
        f"{type(model).__name__} keeps no rollouts and learns without gradients: no values, advantages, log-probs or "
        "losses are there to be judged; environments and what the policy is given are"
    )
