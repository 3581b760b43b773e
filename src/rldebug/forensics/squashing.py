"""Squashing: what a soft target takes for the log-prob of the next action, where actions go through a tanh.

T = r + γ · (Q − α log π) is known in every row, and so are r and Q. What is left over is α log π as the program has it,
and only one of the ways to write it fits. Where α is learned it is known, too: then so is the size of the log-prob.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Script
from rldebug.finding import Where
from rldebug.forensics.drawn import Drawn, asked_about, drawn_before, slope
from rldebug.forensics.target_next import Batch, batch_of

Array = NDArray[np.float64]

_LOSSES = 4  # that are looked at
_TRIES = 16  # to find them
_EXACT = 1e-4  # of the spread, for the row in the middle


@dataclass(frozen=True)
class SoftLogProb:
    how: str  # "corrected", "plain", …: the way to write it that fits
    size: int  # elements of an action
    weight: float  # that it is subtracted with; negative where it is added
    share: float | None  # of the log-prob in the target; None where the temperature is not known
    shift: float  # what is added to the log-prob in all rows
    unit: bool  # critics are asked about the squashed numbers as they are, not stretched
    where: Where


@lru_cache(maxsize=8)
def soft_log_probs(script: Script) -> tuple[SoftLogProb, ...]:
    """How the log-prob of soft targets is written, in some losses; only of programs whose actions are squashed."""
    found: list[SoftLogProb] = []
    looked = tried = 0
    for audit in script.audits:
        squashed: bool | None = None
        for term in audit.terms("regression"):
            if looked >= _LOSSES or tried >= _TRIES or not {"target", "rows"} <= term.arrays.keys():
                continue
            if "index" in term.arrays:
                continue  # of one action among several
            tried += 1
            batch = batch_of(audit, term)
            drawn = list(drawn_before(audit, term, len(batch.target))) if batch is not None else []
            if batch is None or not drawn:
                continue
            if not all(each.by_hand for each in drawn):
                squashed = is_squashed(script, audit) if squashed is None else squashed
                drawn = [each for each in drawn if squashed and np.abs(each.number).max() > 1.0]  # not squashed yet
            looked += bool(drawn)
            way = _how(batch, [each for each in drawn if not each.by_hand or each.squashed])
            if way is not None:
                how, one, (weight, shift) = way
                share, unit = _share(weight, _temperatures(audit, term)), _unit(audit, term, one)
                found.append(SoftLogProb(how, one.logp.shape[1], weight, share, shift, unit, term.where))
    return tuple(found)


def _temperatures(audit: Audit, term: Event) -> list[float]:
    """What a learned temperature was when the loss was made: of the number itself, and of its exponential."""
    steps = [each for each in audit.of("scalar") if len(each["before"]) == 1]
    later = [float(each["before"][0]) for each in steps if each.order > term.order][:1]
    earlier = [float(each["after"][0]) for each in steps if each.order < term.order][-1:]
    numbers = [each for each in later or earlier if np.isfinite(each) and abs(each) < 50]
    return [each for number in numbers for each in (float(np.exp(number)), number) if each > 0]


def _unit(audit: Audit, term: Event, drawn: Drawn) -> bool:
    squashed = np.tanh(drawn.number)
    known = np.isfinite(squashed).all(axis=1)
    asked = list(asked_about(audit, term, *squashed.shape))
    return any(np.allclose(each[known], squashed[known], atol=1e-5) for each in asked)


def _share(weight: float, alphas: list[float]) -> float | None:
    shares = [weight / each for each in alphas if weight > 0]
    return min(shares, key=lambda each: abs(np.log(each))) if shares else None


def is_squashed(script: Script, audit: Audit) -> bool:
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


def _how(batch: Batch, found: list[Drawn]) -> tuple[str, Drawn, tuple[float, float]] | None:
    """Which way to write the log-prob explains the targets down to rounding; None where none, or several, do.

    With it what was drawn, the weight of the log-prob beside that of the value, and what is added to the log-prob.
    """
    keep = batch.known & ~batch.terminated & ~batch.truncated & np.isfinite(batch.reward)
    if keep.sum() < 16 or not float((batch.target - batch.reward)[keep].std()) > 0:
        return None
    fits: dict[str, tuple[str, Drawn, tuple[float, float]]] = {}
    for drawn in found:
        squashed, plain = np.tanh(drawn.number), drawn.logp
        forms = {
            "corrected": drawn.corrected(),
            "plain": (plain,),
            "twice": (plain - np.log(1.0 - np.tanh(squashed) ** 2 + 1e-6),),
            "added": (2.0 * plain - drawn.corrected()[0], 2.0 * plain - drawn.corrected()[1]),
            "other side": (plain - slope(-drawn.number) + 4.0 * drawn.number,),
        }
        for name, column in batch.f.items():
            if name.startswith("logp"):
                continue
            for how, ways in forms.items():
                for each in ways:
                    weights = _fits(batch, keep, column, each.sum(axis=1), of_state=name.startswith("own-"))
                    if weights is not None:
                        fits[how] = how, drawn, weights
    return next(iter(fits.values())) if len(fits) == 1 else None


def _fits(
    batch: Batch, keep: NDArray[np.bool_], column: Array, logp: Array, of_state: bool
) -> tuple[float, float] | None:
    """What the log-prob is subtracted with, beside the weight of the value; and what is added to it.

    of_state: the value of the state itself is learned, V = Q − α log π, as in the first SAC.
    """
    rows = keep & np.isfinite(column) & np.isfinite(logp)
    if rows.sum() < max(16, 0.3 * keep.sum()):
        return None
    for scaled in (None,) if of_state else (False, True):  # rewards may be multiplied by something
        y = (batch.target - batch.reward if scaled is False else batch.target)[rows]
        columns = [column[rows], logp[rows], np.ones(len(y)), *([batch.reward[rows]] if scaled else [])]
        x = np.stack(columns, axis=1)
        coef = np.linalg.lstsq(x, y, rcond=None)[0]
        rest = np.abs(y - x @ coef)
        # The log-prob must matter, and values are discounted, not blown up.
        matters = abs(coef[1]) * float(logp[rows].std()) > 0.01 * float(y.std())
        lowest = 0.99 if of_state else 0.3
        if matters and lowest < coef[0] < 1.01 and np.median(rest) < _EXACT * y.std():
            return float(-coef[1] / coef[0]), float(coef[2] / coef[1])
    return None
