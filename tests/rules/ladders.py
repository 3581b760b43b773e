"""Ladders made by hand: rungs with what was learned on them, beside the right answers of the probes themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rldebug.evidence.ladder import Attempt, Ladder, Rung
from rldebug.probes.shelf import find

GAMMA = 0.9
RESTING = (0.9, 0.85, 0.8, 0.79, 0.81, 0.8, 0.79, 0.8)
STILL = (0.57,) * 8
GROWING = (0.9, 1.1, 1.5, 2.0, 3.0, 5.0, 9.0, 17.0)


def values(
    name: str, *learned: Sequence[float], outcome: str = "failed", matched: Sequence[str] = (), **more: Any
) -> Rung:
    """A rung that asks for values: one table per seed, or the same twice."""
    tables = [np.array(each, dtype=float) for each in (learned if len(learned) > 1 else learned * 2)]
    probe = find(name)(GAMMA)
    right = probe.right({"gamma": GAMMA, "lam": 0.95})
    attempts = tuple(_attempt(outcome, seed, value=each, **more) for seed, each in enumerate(tables))
    return replace(_rung(name, outcome, attempts), right=right, matched=tuple(matched))


def chances(name: str, *rows: Sequence[float], outcome: str = "failed", **more: Any) -> Rung:
    """A rung that asks for a policy: a row of chances, or one number, per look; the same with two seeds."""
    probe = find(name)(GAMMA)
    solved = probe.solve()
    right = solved.best / solved.best.sum(axis=1, keepdims=True)
    if probe.range is not None:
        right = np.array([[solved.best_action(look)] for look in solved.looks])
    table = np.array(rows, dtype=float)
    attempts = tuple(_attempt(outcome, seed, policy=table, **more) for seed in range(2))
    return replace(_rung(name, outcome, attempts), right=right)


def returns(name: str, got: float, outcome: str = "failed", **more: Any) -> Rung:
    """A rung that asks for the return."""
    attempts = tuple(_attempt(outcome, seed, returns=got, **more) for seed in range(2))
    return replace(_rung(name, outcome, attempts), returns=find(name)(GAMMA).returns())


def passed(*names: str) -> list[Rung]:
    """Rungs where all is right."""
    return [_rung(name, "passed", (_attempt("passed", 0, shows=()),)) for name in names]


def ladder(*rungs: Rung | list[Rung], lam: float | None = 0.95, told: float | None = None, **declared: Any) -> Ladder:
    """With a λ: an actor-critic; without: something that learns from its critic."""
    flat = [each for rung in rungs for each in (rung if isinstance(rung, list) else [rung])]
    said = {"gamma": GAMMA} | ({"n_step": 1} if lam is None else {"lam": lam, "rollout": 32}) | declared
    return Ladder("made by hand", tuple(sorted(flat, key=lambda each: each.number)), said, gamma=told)


def _rung(name: str, outcome: str, attempts: tuple[Attempt, ...]) -> Rung:
    kind = find(name)
    reason = attempts[-1].reason
    return Rung(name, kind.rung, kind.summary(), kind.asks, outcome, reason, kind(GAMMA).looks, attempts=attempts)  # type: ignore[arg-type]


def _attempt(outcome: str, seed: int, errors: Sequence[float] = RESTING, **more: Any) -> Attempt:
    told: dict[str, Any] = {
        "reason": "off by 80% after 3 000 steps",
        "steps": 3000,
        "updates": 400,
        "lr": 3e-3,
        "moved": 0.1,
        "seconds": 1.0,
        "error": errors[-1],
        "noise": 0.01,
        "shows": ("value", "policy"),
        "history": tuple((200 * (i + 1), each) for i, each in enumerate(errors)),
    }
    return Attempt(seed=seed, outcome=outcome, **(told | more))  # type: ignore[arg-type]
