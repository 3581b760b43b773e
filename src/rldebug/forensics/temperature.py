"""Temperature: the learned weight of an entropy bonus, and which entropy it is steered to.

Its gradient is, down to rounding, ∓ (mean log-prob + target entropy), times the temperature where that itself is what
the loss holds. Both log-probs and gradient were seen, so sign and target entropy can be read off.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Script
from rldebug.finding import Where
from rldebug.forensics.passes import Output, outputs_of

Array = NDArray[np.float64]

_STEPS = 6  # of a temperature that a line is fitted to
_EXACT = 2e-3  # of the spread of the gradients may be left over
_CALLS = 3  # log-probs just before a step that are tried


@dataclass(frozen=True)
class Temperature:
    optimizer: str
    slope: float  # of the gradient in the mean log-prob: negative where the temperature is steered the right way
    target: float  # entropy that it is steered to; of actions in [-1, 1], or of discrete ones
    discrete: bool
    size: int  # elements of the action, or how many actions there are
    steps: int
    audits: int
    where: Where


@dataclass(frozen=True, eq=False)
class _Step:
    audit: Audit
    event: Event
    value: float
    gradient: float


@lru_cache(maxsize=8)
def temperatures(script: Script) -> tuple[Temperature, ...]:
    steps: dict[str, list[_Step]] = {}
    for audit, event in script.events("scalar"):
        if len(event["before"]) == 1 and np.isfinite([event["before"][0], event["gradient"][0]]).all():
            each = _Step(audit, event, float(event["before"][0]), float(event["gradient"][0]))
            steps.setdefault(str(event["optimizer"]), []).append(each)
    return tuple(found for name, each in steps.items() if (found := _steered(script, name, each)) is not None)


def _steered(script: Script, name: str, steps: list[_Step]) -> Temperature | None:
    if len(steps) < _STEPS:
        return None
    by_audit = {audit.number: outputs for audit, outputs in outputs_of(script)}
    columns: dict[tuple[str, int, bool, int], list[float]] = {}
    for number, step in enumerate(steps):
        for key, value in _means(step, by_audit.get(step.audit.number, ())):
            columns.setdefault(key, [float("nan")] * len(steps))[number] = value
    gradients = np.array([each.gradient for each in steps])
    with np.errstate(over="ignore"):
        exponent = np.exp(np.array([each.value for each in steps]))
    ways = [gradients, gradients / np.where(exponent > 0, exponent, np.nan)]
    found: Temperature | None = None
    for (_, _, discrete, size), column in columns.items():
        x = np.array(column)
        for y in ways:
            keep = np.isfinite(x) & np.isfinite(y)
            if keep.sum() < max(_STEPS, 0.6 * len(steps)) or float(np.ptp(x[keep])) < 1e-5:
                continue
            slope, shift = np.polyfit(x[keep], y[keep], 1)
            rest = np.abs(y[keep] - slope * x[keep] - shift)
            spread = float(y[keep].std())
            if not spread > 0 or float(np.median(rest)) > _EXACT * spread or not 0.2 < abs(slope) < 5.0:
                continue
            audits = len({each.audit.number for each, kept in zip(steps, keep, strict=True) if kept})
            this = Temperature(
                name, float(slope), float(shift / slope), discrete, size, int(keep.sum()), audits, steps[0].event.where
            )
            if found is not None and (found.slope < 0) != (this.slope < 0):
                return None  # two readings that contradict each other
            found = found or this
    return found


def _means(step: _Step, outputs: tuple[Output, ...]) -> Iterator[tuple[tuple[str, int, bool, int], float]]:
    """Mean log-probs of what was drawn shortly before, in each of the usual ways to write them."""
    last: list[tuple[int, Event, NDArray[np.bool_]]] = []
    for event in step.audit.of("logp"):
        orders, result = event.arrays.get("orders"), event.arrays.get("result")
        if orders is None or result is None or len(orders) != len(result):
            continue
        for order in np.unique(orders[orders < step.event.order])[-_CALLS:]:
            last.append((int(order), event, orders == order))
    for back, (_, event, block) in enumerate(sorted(last, key=lambda each: -each[0])[:_CALLS]):
        numbers = np.asarray(event.arrays["result"][block], dtype=np.float64)
        shape = event.get("shape") or []
        if not len(numbers) or not np.isfinite(numbers).all() or (shape and int(shape[0]) < 4):
            continue
        if "Categorical" in str(event["dist"]):
            yield (f"drawn {back}", 0, True, 0), float(numbers.mean())
            continue
        rows = numbers.reshape(len(numbers), -1)
        size = rows.shape[1]
        plain = rows.sum(axis=1)
        yield (f"plain {back}", 0, False, size), float(plain.mean())
        value = event.arrays.get("value")
        if value is not None and len(value) == len(block):
            drawn = np.asarray(value[block], dtype=np.float64).reshape(len(rows), -1)
            if drawn.shape == rows.shape:
                tanh = (plain - np.log(1.0 - np.tanh(drawn) ** 2 + 1e-6).sum(axis=1)).mean()
                exact = (plain - (2.0 * (np.log(2.0) - drawn - np.logaddexp(0.0, -2.0 * drawn))).sum(axis=1)).mean()
                yield (f"tanh {back}", 1, False, size), float(tanh)
                yield (f"tanh {back}", 2, False, size), float(exact)
    asked = [each for each in outputs if each.order < step.event.order and 1 < each.values.shape[1] <= 64]
    for each in asked[-6:]:
        if len(each.values) < 4 or not np.isfinite(each.values).all():
            continue
        out = each.values
        proper = out.min() >= 0.0 and np.allclose(out.sum(axis=1), 1.0, atol=1e-4)
        top = np.exp(out - out.max(axis=1, keepdims=True))
        policy = out if proper else top / top.sum(axis=1, keepdims=True)
        size = out.shape[1]
        logs = np.log(np.maximum(policy, 1e-8))
        yield (f"expected {each.module}", each.place, True, size), float((policy * logs).sum(axis=1).mean())
