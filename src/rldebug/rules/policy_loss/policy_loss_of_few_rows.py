"""The policy loss covers a small part of the rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Audit, Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.surrogates import surrogates
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class PolicyLossOfFewRows(Rule):
    """The policy loss covers a small part of the rows.

    ## What it checks
    The policy is called on a batch of observations with known steps, and the critic learns from all of them. The
    policy loss is made of a few of them only: always as many, without a mask.

    ## Why it matters
    Most of what was collected teaches the policy nothing, and the rest is noisier by as much.

    ## Likely causes
    1. A slice or an index is left over: `logp[-1]`, `loss[:n]`, the last minibatch only. Confirm: print the shape of
       what is averaged.
    2. The loss is built after the loop, from the variables of its last round. Confirm: it is not collected in it.

    ## What to try first
    Average the surrogate over all rows of the batch.

    ## When it is fine
    Where steps are left out on purpose: then their number changes from batch to batch, or there is a mask.

    ## References
    Schulman et al. 2017, *Proximal Policy Optimization Algorithms*.
    """

    code: ClassVar[str] = "POL350"
    name: ClassVar[str] = "policy-loss-of-few-rows"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    losses: int = 4  # on rows that a critic learns from too
    part: float = 0.5  # of the rows

    def check(self, evidence: Script) -> Iterator[Finding]:
        few: list[tuple[Event, int, int]] = []
        judged = 0
        for each in surrogates(evidence):
            term = each.term
            rows = term.arrays.get("rows")
            if rows is None or (rows < 0).any() or term.get("mask") or "mask" in term.arrays:
                continue
            whole = int(term.get("given") or len(rows))
            if whole < 8 or term.get("family") not in ("categorical", "normal"):
                continue
            if not _critic_learns_all(each.audit, term, whole):
                continue
            judged += 1
            if int(term["rows"]) <= self.part * whole and int(term.get("steps", 1)) == 1:
                few.append((term, int(term["rows"]), whole))
        if judged < self.losses:
            raise NotEnough(f"{judged} policy losses on rows that a critic learns from, needs {self.losses}")
        if len(few) < 0.9 * judged or len({(some, whole) for _, some, whole in few}) != 1:
            return
        term, some, whole = few[0]
        told = term.arrays.get("index", term.arrays.get("action"))
        sliced = told is not None and len(told) == some  # actions are cut with a slice, and kept by a sum
        if not sliced and whole % some == 0 and tuple((term.get("shapes") or {}).get("logp") or (some,)) != (some,):
            return  # (steps, lanes) that were reduced along one of them
        yield self.finding(
            "the policy loss is made of a few rows of the batch",
            where=term.where,
            seen=f"log-probs of {some} of {whole} rows in {len(few)} of {judged} losses; the critic learns from all",
            expected="all rows of the batch",
            help="average the surrogate over the whole batch",
            confidence=0.85,
        )


def _critic_learns_all(audit: Audit, term: Event, whole: int) -> bool:
    """A regression on the rows that the policy was given, all of them, near this loss."""
    rows = set(term.arrays["rows"].tolist())
    for other in audit.terms("regression"):
        same = other.arrays.get("rows")
        near = abs(other.update - term.update) <= 2 and whole == int(other["rows"])
        if near and same is not None and len(same) == whole and rows <= set(same.tolist()):
            return True
    return False
