"""Squashing: what a soft target takes for the log-prob of the next action, where actions go through a tanh.

T = r + γ · (Q − α log π) is known in every row, and so are r and Q. What is left over is α log π as the program has it,
and only one of the ways to write it fits.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Script
from rldebug.finding import Where
from rldebug.forensics.target_next import Batch, batch_of

Array = NDArray[np.float64]

_LOSSES = 4  # that are looked at
_EXACT = 1e-4  # of the spread, for the row in the middle


def soft_log_probs(script: Script) -> tuple[dict[str, int], Where | None]:
    """How often the log-prob of soft targets was written in which way; only of programs whose actions are squashed."""
    votes: dict[str, int] = {}
    where, looked = None, 0
    for audit in script.audits:
        drawn = _squashed(script, audit)
        for term in audit.terms("regression"):
            if not drawn or looked >= _LOSSES or "target" not in term.arrays:
                continue
            found = list(_drawn(audit, term))
            batch = batch_of(audit, term) if found else None
            if batch is None:
                continue
            looked += 1
            how = _how(batch, found)
            if how:
                votes[how] = votes.get(how, 0) + 1
                where = where or term.where
    return votes, where


def _squashed(script: Script, audit: Audit) -> bool:
    """Whether executed actions are the tanh of drawn numbers, stretched to the bounds or not."""
    numbers = [
        np.ravel(event.arrays["result"]).astype(np.float64)
        for event in audit.of("sample")
        if event.get("dist") in ("Normal", "Independent", "MultivariateNormal") and "result" in event.arrays
    ]
    action = audit.nodes.action[audit.nodes.acted & (audit.nodes.phase >= audit.phase)]
    if not numbers or len(action) < 4 or not np.isfinite(action).all():
        return False
    drawn = np.sort(np.concatenate(numbers))
    forms = [action.ravel()]
    for stream in script.streams:
        facts = stream.get("facts") or {}
        low, high = (
            np.ravel(np.array(facts.get(name) or [], dtype=np.float64)) for name in ("action_low", "action_high")
        )
        if len(low) == len(high) == action.shape[1] and np.isfinite([*low, *high]).all() and (high > low).all():
            forms.append(((action - (low + high) / 2) / ((high - low) / 2)).ravel())
    return (
        max(_among(form, np.tanh(drawn)) for form in forms) > 0.6 and max(_among(each, drawn) for each in forms) < 0.2
    )


def _among(values: Array, ordered: Array) -> float:
    """Share of the values that are found among others."""
    if len(ordered) < 2:
        return 0.0
    at = np.clip(np.searchsorted(ordered, values), 1, len(ordered) - 1)
    near = np.minimum(np.abs(values - ordered[at]), np.abs(values - ordered[at - 1]))
    return float((near < 3e-6).mean())


def _drawn(audit: Audit, term: Event) -> Iterator[tuple[Array, Array]]:
    """Log-probs per element, and the numbers themselves, of the last draw without a graph before the loss."""
    for event in audit.of("logp"):
        result, value = event.arrays.get("result"), event.arrays.get("value")
        orders, updates = event.arrays.get("orders"), event.arrays.get("updates")
        if (
            result is None
            or value is None
            or event.get("attached")
            or event.get("dist") not in ("Normal", "Independent")
        ):
            continue
        if orders is None or updates is None or len(orders) != len(result) or len(value) != len(result):
            continue
        before = orders[(orders < term.order) & (updates == term.update)]
        if not len(before):
            continue
        block = orders == before.max()
        count = int(block.sum())
        if count < 16:
            continue
        numbers = result[block].astype(np.float64).reshape(count, -1)
        drawn = value[block].astype(np.float64).reshape(count, -1)
        if np.abs(drawn).max() > 1.0:  # beyond 1: not squashed yet
            yield numbers, drawn


def _how(batch: Batch, found: list[tuple[Array, Array]]) -> str:
    """Which way to write the log-prob explains the targets down to rounding; "" where none, or several, do."""
    keep = batch.known & ~batch.terminated & ~batch.truncated
    y = (batch.target - batch.reward)[keep]
    if len(y) < 16 or not float(y.std()) > 0:
        return ""
    fits: set[str] = set()
    for numbers, drawn in found:
        if len(numbers) != len(batch.target):
            continue
        plain, squashed = numbers.sum(axis=1), np.tanh(drawn)
        exact = 2.0 * (np.log(2.0) - drawn - np.logaddexp(0.0, -2.0 * drawn))
        forms = {
            "corrected": (plain - np.log(1.0 - squashed**2 + 1e-6).sum(axis=1), plain - exact.sum(axis=1)),
            "plain": (plain,),
            "twice": (plain - np.log(1.0 - np.tanh(squashed) ** 2 + 1e-6).sum(axis=1),),
        }
        for name, column in batch.f.items():
            if name.startswith(("logp", "own-")) or not np.isfinite(column[keep]).all():
                continue
            for how, ways in forms.items():
                if any(_fits(y, column[keep], each[keep]) for each in ways):
                    fits.add(how)
    return fits.pop() if len(fits) == 1 else ""


def _fits(y: Array, column: Array, logp: Array) -> bool:
    x = np.stack([column, logp, np.ones(len(y))], axis=1)
    coef = np.linalg.lstsq(x, y, rcond=None)[0]
    rest = np.abs(y - x @ coef)
    # The log-prob must matter, and values are discounted, not blown up.
    matters = abs(coef[1]) * float(logp.std()) > 0.01 * float(y.std())
    return bool(matters and 0.3 < coef[0] < 1.01 and coef[1] < 0 and np.median(rest) < _EXACT * y.std())
