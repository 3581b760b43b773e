"""Tianshou 2: whatever is trained in a block is watched, with the trainers of the library or its experiments.

    with watched(run="cartpole"):
        algorithm.run_training(params)

What networks, losses and environments do is seen without help. Handed over is what the buffers of its collectors hold;
what trainer and algorithm were made with is kept.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from rldebug.attach import Attached, attach
from rldebug.capture.session import current
from rldebug.finding import Report
from rldebug.integrations.handing_over import Pace, drawn, harmless

try:
    from tianshou.data import Collector, ReplayBufferManager
    from tianshou.trainer import OnPolicyTrainer, Trainer
except ImportError as error:
    raise ImportError(
        f"rldebug.integrations.tianshou needs Tianshou 2, which cannot be imported here ({error}): "
        "pip install 'rldebug[tianshou]'"
    ) from error

_GROUP = "integrations/tianshou"


def watched(
    run: str = "tianshou",
    *,
    folder: str | Path = ".rldebug/runs",
    select: tuple[str, ...] | list[str] = (),
    ignore: tuple[str, ...] | list[str] = (),
    overhead_budget: float | None = None,
    quiet: bool = False,
) -> Watched:
    """Watch a block: `with watched(run="cartpole") as watch: …`; its end prints the diagnosis.

    run      what the run is called; it is kept in `folder/run`
    quiet    print nothing: `watch.report` has the diagnosis
    """
    options = {
        "folder": folder, "select": select, "ignore": ignore, "overhead_budget": overhead_budget, "quiet": quiet,
    }  # fmt: skip
    return Watched(run, options)


class Watched:
    """What `watched` returns."""

    def __init__(self, run: str, options: dict[str, Any]) -> None:
        self.dbg: Attached | None = None
        self.report: Report | None = None
        self._run, self._options = run, options
        self._trainer: Any = None  # the one under way
        self._pace = Pace()

    def __enter__(self) -> Watched:
        self.dbg = attach(run=self._run, **self._options)
        session = current()
        if session is not None:
            session.switch.replace(_GROUP, Trainer, "run", self._running)
            session.switch.replace(_GROUP, Collector, "collect", self._collecting)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.dbg is not None:
            self.report, self.dbg = self.dbg.close(error), None

    # ── what is put in place of the library's ───────────────────────────────────────────────────────────────────────

    def _running(self, original: Any) -> Any:
        def run(trainer: Any, *args: Any, **kwargs: Any) -> Any:
            outer, self._trainer = self._trainer, trainer
            self._harmless(lambda dbg: dbg.declare(**settings_of(trainer)))
            try:
                return original(trainer, *args, **kwargs)
            finally:
                self._trainer = outer

        return run

    def _collecting(self, original: Any) -> Any:
        def collect(collector: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(collector, *args, **kwargs)
            trainer, buffer = self._trainer, collector.buffer
            if trainer is not None and getattr(trainer.params, "training_collector", None) is collector:
                self._harmless(lambda dbg: self._hand_over(dbg, trainer, buffer))
            return result

        return collect

    def _hand_over(self, dbg: Attached, trainer: Any, buffer: Any) -> None:
        if isinstance(trainer, OnPolicyTrainer):
            rollout = rollout_in(buffer)
            if rollout:
                dbg.rollout(**rollout)
        elif len(buffer) > 1 and self._pace.due(dbg.env_steps):
            dbg.replay(**rows_in(buffer, np.random.default_rng(dbg.env_steps)))

    def _harmless(self, what: Callable[[Attached], None]) -> None:
        harmless(_GROUP, self.dbg, what)


# ── what a buffer holds ─────────────────────────────────────────────────────────────────────────────────────────────


def rollout_in(buffer: Any) -> dict[str, Any]:
    """All that was collected since the last update, `(T, B)`: as many steps as every environment has taken."""
    parts = buffer.buffers if isinstance(buffer, ReplayBufferManager) else [buffer]
    orders = [each.sample_indices(0) for each in parts]  # all, the oldest first
    steps = min(map(len, orders))
    if not steps:
        return {}
    lanes = [part[order[:steps]] for part, order in zip(parts, orders, strict=True)]
    given = {
        "action": [each.act for each in lanes],
        "reward": [each.rew for each in lanes],
        "terminated": [each.terminated for each in lanes],
        "truncated": [each.truncated for each in lanes],
    }
    if all(isinstance(each.obs, np.ndarray) for each in lanes):
        given["obs"] = [each.obs for each in lanes]
    return {name: np.stack(each, axis=1) for name, each in given.items()}


def rows_in(buffer: Any, draw: np.random.Generator) -> dict[str, Any]:
    """Some rows, from all that is stored."""
    known = buffer.sample_indices(0)
    rows = buffer[known[drawn(len(known), draw)]]
    given = {"action": rows.act, "reward": rows.rew, "terminated": rows.terminated, "truncated": rows.truncated}
    if isinstance(rows.obs, np.ndarray) and isinstance(rows.obs_next, np.ndarray):
        given |= {"obs": rows.obs, "next_obs": rows.obs_next}
    return {name: np.array(each) for name, each in given.items()}


# ── what it was made with ───────────────────────────────────────────────────────────────────────────────────────────


def settings_of(trainer: Any) -> dict[str, Any]:
    """Of trainer and algorithm, what is numbers, texts and switches."""
    told: dict[str, Any] = {"algorithm": type(trainer.algorithm).__name__, "library": "tianshou"}
    if dataclasses.is_dataclass(trainer.params):
        told |= _plain({each.name: getattr(trainer.params, each.name) for each in dataclasses.fields(trainer.params)})
    for thing in (trainer.algorithm, trainer.algorithm.policy):
        told |= _plain({name: each for name, each in vars(thing).items() if not name.startswith("_")})
    return told


def _plain(found: dict[str, Any]) -> dict[str, Any]:
    return {name: each for name, each in found.items() if isinstance(each, (bool, int, float, str))}
