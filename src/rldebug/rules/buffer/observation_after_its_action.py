"""Rows hold the observation that came after their action, normalised anew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Event, Nodes, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.nearly_traced import nearly_traced
from rldebug.forensics.trained_actions import equal, executed, shifted
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ObservationAfterItsAction(Rule):
    """Rows hold the observation that came after their action.

    ## What it checks
    Rows of the policy's loss that are no input that was acted on, but lie next to one: observations that were
    normalised by statistics which have moved since. The action of the row is compared with those that were executed at
    that step, and at its neighbours: it is that of the step before, in nearly all rows. Actions at the limits of the
    action space are left out, since programs cut them off.

    ## Why it matters
    The policy learns to do in the state that an action led to what it did before. The critic's values are one step off.

    ## Likely causes
    1. The observation is stored after `env.step()`, when the variable already holds the next one. Confirm: compare
       what is stored with what the network was given.

    ## What to try first
    Store what the network was given, before the environment is stepped.

    ## When it is fine
    Never.

    ## References
    Bug kind BUF-01 of bench/bugs/sources.toml, behind a normaliser.
    """

    code: ClassVar[str] = "BUF373"
    name: ClassVar[str] = "observation-after-its-action"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "rows"

    rows: int = 64  # that can be compared
    part: float = 0.2  # of the rows of the losses
    share: float = 0.95  # of them with the action of the step before
    own: float = 0.8  # with that of their own: then all is well

    def check(self, evidence: Script) -> Iterator[Finding]:
        compared = before = own = rows = 0
        audits: set[int] = set()
        example: Event | None = None
        for each in nearly_traced(evidence):
            nodes = each.audit.nodes
            if not len(each.places) or each.action.shape[1] != nodes.action.shape[1]:
                continue
            here = executed(nodes, each.places)
            there = executed(nodes, shifted(nodes, each.places, -1))
            usable = _inside(nodes, here) & _inside(nodes, there)
            rows += each.rows
            compared += int(usable.sum())
            own += int(equal(here, each.action)[usable].sum())
            before += int(equal(there, each.action)[usable].sum())
            if usable.sum() >= 8:
                audits.add(each.audit.number)
                example = example or each.term
        if example is None or compared < max(self.rows, self.part * rows) or len(audits) < 2:
            raise NotEnough(f"{compared} rows of losses that lie next to a step that was acted, needs {self.rows}")
        if before < self.share * compared or own > self.own * compared:
            return
        yield self.finding(
            "rows of the loss hold the observation that came after their action",
            where=example.where,
            seen=f"the action of the step before in {before} of {compared} rows, their own in {own}",
            expected="the observation that the action was chosen for",
            help="store what the network was given before the environment is stepped",
            confidence=0.95,
        )


def _inside(nodes: Nodes, action: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Actions that are known, and not at the ends of what was executed; of whole numbers all."""
    known: NDArray[np.bool_] = np.asarray(np.isfinite(action).all(axis=1))
    taken = nodes.action[np.isfinite(nodes.action).all(axis=1)]
    if not len(taken) or (taken == np.round(taken)).all():
        return known
    low, high = taken.min(axis=0), taken.max(axis=0)
    return np.asarray(known & ((action > low + 1e-6) & (action < high - 1e-6)).all(axis=1))
