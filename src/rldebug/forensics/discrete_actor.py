"""Discrete actors that learn from all action values at once: Σ π(a) (α log π(a) − Q(a)), as in discrete SAC.

The gradient at the actor's output is then a fixed sum of two known columns, row by row: one of the values, one of the
log-probs. Their factors say whether values are sought and whether entropy is paid for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Script
from rldebug.forensics.passes import Output, Pass, outputs_of, passes_of

Array = NDArray[np.float64]

_EXACT = 2e-3  # of the spread of the gradients may be left over, in the median


@dataclass(frozen=True, eq=False)
class Weighed:
    """One backward pass of a discrete actor, explained."""

    audit: Audit
    order: int
    update: int
    actor: str
    critics: str  # which values explain it
    value: float  # factor of the values in the loss: negative where they are sought
    entropy: float  # factor of the log-probs: positive where entropy is paid for
    rows: int


@lru_cache(maxsize=8)
def weighed(script: Script) -> tuple[Weighed, ...]:
    outputs = {audit.number: each for audit, each in outputs_of(script)}
    acting = {name for name, thing in script.modules.items() if thing.get("acting")}
    found = []
    for each in passes_of(script):
        if len({push.module for push in each.pushes} & acting) != 1:
            continue
        one = _explained(each, outputs.get(each.audit.number, ()), acting)
        if one is not None:
            found.append(one)
    return tuple(found)


def _explained(each: Pass, outputs: tuple[Output, ...], acting: set[str]) -> Weighed | None:
    pushes = [push for push in each.pushes if push.module in acting and 2 <= push.output.values.shape[1] <= 64]
    if len(pushes) != 1 or len(pushes[0].gradient) < 8:
        return None
    push = pushes[0]
    out, gradient = push.output.values, push.gradient
    if not np.isfinite(out).all() or not np.isfinite(gradient).all() or not np.abs(gradient).max() > 0:
        return None
    near = [
        one
        for one in outputs
        if one.module != push.module and one.order < each.order and one.values.shape == out.shape
        and np.array_equal(one.rows, push.output.rows) and not (one.rows < 0).all()
        and abs(one.update - push.output.update) <= 2 and np.isfinite(one.values).all()
    ][-4:]  # fmt: skip
    best: Weighed | None = None
    for name, q in _values(near):
        for columns in _forms(out, q):
            x = np.stack([column.ravel() for column in columns], axis=1)
            y = gradient.ravel() * len(out)
            spread = float(y.std())
            if not spread > 0 or np.linalg.matrix_rank(x) < x.shape[1]:
                continue
            coef, *_ = np.linalg.lstsq(x, y, rcond=None)
            rest = np.abs(y - x @ coef)
            felt = abs(coef[0]) * float(x[:, 0].std()) > 0.02 * spread  # the values must matter
            if float(np.median(rest)) < _EXACT * spread and float(rest.mean()) < 5 * _EXACT * spread and felt:
                # Columns are those of -Q and of the log-probs.
                this = Weighed(
                    each.audit, each.order, push.output.update, push.module, name,
                    float(-coef[0]), float(coef[1]), len(out),
                )  # fmt: skip
                if best is not None and np.sign(best.value) != np.sign(this.value):
                    return None
                best = best or this
    return best


def _values(near: list[Output]) -> Iterator[tuple[str, Array]]:
    last = {each.module: each for each in near}
    several = list(last.values())
    for place, one in enumerate(several):
        for two in several[place + 1 :]:
            yield f"min {one.module} {two.module}", np.minimum(one.values, two.values)
            yield f"max {one.module} {two.module}", np.maximum(one.values, two.values)
            yield f"mean {one.module} {two.module}", (one.values + two.values) / 2
    for one in several:
        yield f"value {one.module}", one.values


def _forms(out: Array, q: Array) -> Iterator[list[Array]]:
    """Columns of -Q, of the log-probs, and what else the form brings: for logits, log-probs and probabilities."""
    shifted = out - out.max(axis=1, keepdims=True)
    policy = np.exp(shifted) / np.exp(shifted).sum(axis=1, keepdims=True)
    whole = np.allclose(np.exp(np.clip(out, -60, 5)).sum(axis=1), 1.0, atol=1e-4)
    if out.min() >= 0 and np.allclose(out.sum(axis=1), 1.0, atol=1e-4):
        logs = np.log(np.maximum(out, 1e-8))
        yield [-q, logs, np.ones_like(q)]
        return
    logs = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))

    def centred(each: Array) -> Array:
        return np.asarray(policy * (each - (policy * each).sum(axis=1, keepdims=True)))

    yield [centred(-q), centred(logs)]
    if whole:
        yield [-policy * q, policy * logs, policy]
