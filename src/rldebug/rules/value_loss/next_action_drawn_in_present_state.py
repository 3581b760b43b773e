"""Critics are asked about next states with actions of the present ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.passes import Output, outputs_of
from rldebug.forensics.target_actions import Asked, action_of, asked_of
from rldebug.rule import NotEnough, Rule

Array = NDArray[np.float64]
_IN_STEP = 0.99  # share of neighbours in one order that are so in the other: half of them by chance


@dataclass(frozen=True, kw_only=True)
class NextActionDrawnInPresentState(Rule):
    """Critics are asked about next states with actions of the present ones.

    ## What it checks
    For the targets, critics are asked about the states that steps led to, and about an action there. In these updates
    no policy was asked about those states. It was asked about the present ones, and the action beside the next state
    follows, row by row, the number that was then drawn, or the mean that it gave.

    ## Why it matters
    The value of the next state is that of an action which was chosen for another one, and the log-prob in a soft target
    is not of that state either.

    ## Likely causes
    1. `policy(obs)` in place of `policy(next_obs)` where targets are made. Confirm: read the line.

    ## What to try first
    Ask the policy, or its target network, for the action in the next state.

    ## When it is fine
    Nothing that is known of.

    ## References
    Haarnoja et al. 2018, *Soft Actor-Critic*.
    """

    code: ClassVar[str] = "VAL460"
    name: ClassVar[str] = "next-action-drawn-in-present-state"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "next"

    rows: int = 128  # that must be there
    audits: int = 2  # in which it is so

    def check(self, evidence: Script) -> Iterator[Finding]:
        said = {audit.number: outputs for audit, outputs in outputs_of(evidence)}
        judged = wrong = 0
        audits: set[int] = set()
        first = None
        for each in asked_of(evidence):
            present = _of_present(each, said[each.audit.number])
            judged += int(each.known.sum())
            if present is not None:
                wrong += int(each.known.sum())
                audits.add(each.audit.number)
                first = first or each.term
        if judged < self.rows:
            raise NotEnough(f"{judged} questions about next states whose action was seen, needs {self.rows}")
        if first is not None and wrong >= 0.9 * judged and len(audits) >= self.audits:
            yield self.finding(
                "critics are asked about next states with actions that were chosen for the present ones",
                where=first.where,
                seen=f"no policy was asked about the next state in {wrong} of {judged} rows; the action beside it "
                f"follows what was said of the state before",
                expected="the action that the policy takes in the next state",
                help="ask the policy about the next observations where the target is made",
                confidence=0.95,
            )


def _of_present(asked: Asked, outputs: tuple[Output, ...]) -> Output | None:
    """The call about the present states that the action in the next ones was made of."""
    rows, wide = asked.term.arrays["rows"], asked.action.shape[1]
    before = [
        each
        for each in outputs
        if each.update == asked.term.update and each.order < asked.call.order and not each.event.get("acting")
        and len(each.rows) == len(rows) and action_of(asked.audit.nodes, each, wide) is None
    ]  # fmt: skip
    if any(np.array_equal(each.rows, asked.call.rows) for each in before):
        return None
    if (asked.call.rows[asked.known] == rows[asked.known]).mean() > 0.1:
        return None  # steps that lead nowhere
    for each in reversed(before):
        if each.attached or not np.array_equal(each.rows, rows) or each.values.shape[1] not in (wide, 2 * wide):
            continue
        made = [each.values[:, :wide], *_draws(asked.audit, each.order, asked.call.order, asked.action.shape)]
        if any(_in_step(one, asked.action) for one in made):
            return each
    return None


def _draws(audit: Audit, begin: int, end: int, shape: tuple[int, ...]) -> Iterator[Array]:
    """What was drawn between two calls, or asked the log-prob of, for as many rows."""
    for kind, name in (("sample", "result"), ("logp", "value")):
        for event in audit.of(kind):
            numbers = event.arrays.get(name)
            if numbers is None or not len(numbers):
                continue
            orders = event.arrays.get("orders")
            if orders is None or len(orders) != len(numbers):
                orders = np.full(len(numbers), event.order)
            block = numbers[(orders > begin) & (orders < end)]
            if block.size == np.prod(shape):
                yield block.astype(np.float64).reshape(shape)


def _in_step(one: Array, other: Array) -> bool:
    """Whether each column rises, or falls, with that of the other: one may be scaled and squashed."""
    for left, right in zip(one.T, other.T, strict=True):
        if not (np.isfinite(left).all() and np.isfinite(right).all()) or len(np.unique(right)) < 8:
            return False
        moves = np.diff(right[np.argsort(left, kind="stable")])
        slack = 1e-6 * float(np.abs(right).max())
        if max((moves >= -slack).mean(), (moves <= slack).mean()) < _IN_STEP:
            return False
    return True
