"""The log-prob of a Gaussian is asked of the squashed action."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Audit, Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.scored_draws import scored_draws
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class LogProbOfSquashedAction(Rule):
    """The log-prob of a Gaussian is asked of the squashed action.

    ## What it checks
    A number is drawn from a Gaussian and squashed by a tanh. The Gaussian is then asked for the log-prob of the
    squashed number, which it never drew: the value given to `log_prob` is the tanh of the draw just before it, to
    rounding, in every row. Or in a batch of a loss, where mean and deviation say which draw a number was. Exact.

    ## Why it matters
    The log-prob belongs to another action: the entropy, and all that is steered by it, is wrong.

    ## Likely causes
    1. `log_prob(tanh(u))` in place of `log_prob(u)`. Confirm: read the line.

    ## What to try first
    `dist.log_prob(u) - log(1 - tanh(u)**2 + 1e-6)`.

    ## When it is fine
    Nothing that is known of.

    ## References
    Haarnoja et al. 2018, *Soft Actor-Critic Algorithms and Applications*, appendix C.
    Seen in the wild: ACT-11 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ACT370"
    name: ClassVar[str] = "log-prob-of-squashed-action"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "density"

    rows: int = 64  # that must be there

    def check(self, evidence: Script) -> Iterator[Finding]:
        most = 0
        for pairs in (at_once(evidence), in_the_loss(evidence)):
            judged = squashed = 0
            first: Event | None = None
            for event, value, drawn in pairs:
                apart = np.abs(drawn) > 0.05  # near zero a tanh changes nothing
                judged += int(apart.sum())
                hit = apart & (np.abs(value - np.tanh(drawn)) < 1e-5)
                squashed += int(hit.sum())
                first = first if first is not None or not hit.any() else event
            most = max(most, judged)
            if judged >= self.rows and first is not None and squashed >= 0.98 * judged:
                yield self.finding(
                    "the Gaussian is asked for the log-prob of the squashed action",
                    where=first.where,
                    seen=f"the tanh of what was drawn, in {squashed} of {judged} numbers",
                    expected="the number that was drawn",
                    help="take the log-prob of the number before the tanh, and correct it for the tanh",
                    confidence=0.96,
                )
                return
        if most < self.rows:
            raise NotEnough(f"{most} numbers whose draw and log-prob were both seen, needs {self.rows}")


def at_once(script: Script) -> Iterator[tuple[Event, np.ndarray, np.ndarray]]:
    for audit in script.audits:
        yield from _pairs(audit)


def in_the_loss(script: Script) -> Iterator[tuple[Event, np.ndarray, np.ndarray]]:
    """What is learned, in a batch, before the policy has moved."""
    for each in scored_draws(script):
        if each.learned:
            yield each.event, each.value, each.drawn


def _pairs(audit: Audit) -> Iterator[tuple[Event, np.ndarray, np.ndarray]]:
    """What log_prob was given, beside the draw just before it, of the same Gaussian."""
    draws: list[tuple[int, np.ndarray, np.ndarray]] = []
    for event in audit.of("sample"):
        if event.get("dist") in ("Normal", "Independent"):
            draws += [(order, result, params) for order, result, params in _blocks(event, "result")]
    draws.sort(key=lambda each: each[0])
    orders = [order for order, _, _ in draws]
    for event in audit.of("logp"):
        if event.get("dist") not in ("Normal", "Independent"):
            continue
        for order, value, params in _blocks(event, "value"):
            at = int(np.searchsorted(orders, order)) - 1
            if at < 0:
                continue
            _, drawn, theirs = draws[at]
            if drawn.size == value.size and params.shape == theirs.shape and np.array_equal(params, theirs):
                yield event, np.ravel(value).astype(np.float64), np.ravel(drawn).astype(np.float64)


def _blocks(event: Event, name: str) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    array, params, orders = event.arrays.get(name), event.arrays.get("params"), event.arrays.get("orders")
    if array is None or params is None or len(params) != len(array):
        return
    if orders is None or len(orders) != len(array):
        yield event.order, array, params
        return
    for order in np.unique(orders):
        block = orders == order
        yield int(order), array[block], params[block]
