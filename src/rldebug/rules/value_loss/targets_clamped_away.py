"""Targets end at a bound on the wrong side of the rewards, and most of them lie on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.node_places import Site, sited
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TargetsClampedAway(Rule):
    """Most targets are cut off at a bound on the wrong side.

    ## What it checks
    The rewards of the environment have one sign, and most are not 0. The targets of a regression of values have
    the other one, in the later half of the run and without exception, or are 0: and most of them are exactly 0.

    ## Why it matters
    What was paid is cut off. All actions will be worth the same.

    ## Likely causes
    1. Targets are clamped to the range of gains where rewards are costs, or the other way round. Confirm: print them
       before and after.
    2. Rewards are clamped like that before they are stored. Confirm: print a batch of them.

    ## What to try first
    For rewards of -1 and 0: `target.clamp(-1 / (1 - gamma), 0)`.

    ## When it is fine
    Where a wrapper or the program pays something else than the environment, in most steps nothing, and few rows go on.

    ## References
    Andrychowicz et al. 2017, *Hindsight Experience Replay*: targets lie between -1 / (1 - γ) and 0.
    """

    code: ClassVar[str] = "VAL373"
    name: ClassVar[str] = "targets-clamped-away"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    rows: int = 256  # in the later half of the run
    batches: int = 6  # that they are from
    share: float = 0.5  # of targets on the bound

    def check(self, evidence: Script) -> Iterator[Finding]:
        sign = _sign(evidence)
        if not sign:
            raise NotEnough("rewards of both signs, or hardly any")
        found: dict[Site, list[Event]] = {}
        for audit in evidence.audits:
            for site, term in sited(audit, "regression"):
                if np.size(term.arrays.get("target", ())):
                    found.setdefault(site, []).append(term)
        if not found:
            raise NotEnough("no values are learned")
        for terms in found.values():
            later = terms[len(terms) // 2 :]  # before anything is learned, next values may outweigh a reward
            targets = np.concatenate([np.ravel(each.arrays["target"]) for each in later]) * sign
            on = targets == 0
            if len(targets) < self.rows or len(later) < self.batches or targets.max() > 0 or on.mean() < self.share:
                continue
            others = len(np.unique(targets[~on]))
            if on.all() or others >= 0.5 * (~on).sum():  # rows that go on have values of their own
                side = "negative" if sign < 0 else "positive"
                yield self.finding(
                    "targets are cut off at 0, on the wrong side",
                    where=later[0].where,
                    seen=f"exactly 0 in {on.mean():.0%} of {len(targets)} rows, and {side} in none; rewards are "
                    f"{side} or 0",
                    expected=f"{side} targets, as the rewards are",
                    help="look for a clamp of rewards or targets whose bounds have the wrong sign",
                    confidence=0.95,
                )


def _sign(script: Script) -> int:
    """Of the rewards, where most have the same and the others are 0; else 0."""
    parts = [each.nodes.reward[each.nodes.acted & ~each.nodes.phantom] for each in script.audits if len(each.nodes)]
    rewards: NDArray[np.float64] = np.concatenate(parts) if parts else np.empty(0)
    rewards = rewards[np.isfinite(rewards)]
    if len(rewards) < 40 or (rewards == 0).mean() > 0.5 or (rewards.min() < 0 < rewards.max()):
        return 0
    return 1 if rewards.max() > 0 else -1
