"""All rows of a batch get the same noise on their target action."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.target_actions import asked_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class OneNoiseForTheWholeBatch(Rule):
    """All rows of a batch get the same noise on their target action.

    ## What it checks
    The actions that critics are asked about in next states differ from what the policy said there by noise, as in TD3.
    Here the difference is the same in all rows of a batch that no bound cuts off, and another in the next batch. Exact.

    ## Why it matters
    The value is not smoothed over actions: all targets of a batch are pushed to the same side.

    ## Likely causes
    1. The noise has the shape of one action: `randn_like(action[0])`. Confirm: print its shape.

    ## What to try first
    `torch.randn_like(actions)`, of the shape of the batch.

    ## When it is fine
    Nothing that is known of.

    ## References
    Fujimoto et al. 2018, *Addressing Function Approximation Error in Actor-Critic Methods*.
    Seen in the wild: ACT-05 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "TGT372"
    name: ClassVar[str] = "one-noise-for-the-whole-batch"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "noise"

    batches: int = 4  # that must be there

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged = 0
        hits: list[Event] = []
        seen: set[tuple[float, ...]] = set()
        for each in asked_of(evidence):
            if each.policy is None:
                continue
            off = each.action - each.policy
            if np.abs(off).max() < 1e-5:
                continue
            judged += 1
            middle = np.median(off, axis=0)
            same = (np.abs(off - middle) < 1e-5 * (1 + np.abs(each.action).max())).mean(axis=0)
            # Rows near a bound are cut off.
            if (same > 0.5).all() and np.abs(middle).max() > 1e-4:
                hits.append(each.term)
                seen.add(tuple(np.round(middle, 5)))
        if judged < self.batches:
            raise NotEnough(f"{judged} batches with noise on their target actions, needs {self.batches}")
        if len(hits) >= 0.9 * judged and len(seen) > 1:
            yield self.finding(
                "all rows of a batch get the same noise on their target action",
                where=hits[0].where,
                seen=f"one difference between action and policy for all rows, in {len(hits)} of {judged} batches",
                expected="noise of its own for each row",
                help="draw the noise in the shape of the batch: torch.randn_like(actions)",
                confidence=0.95,
            )
