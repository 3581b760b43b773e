"""A fixed part of every rollout is never learned from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.rollouts import Rollout, rollouts
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class PartOfRolloutNeverLearned(Rule):
    """A fixed part of every rollout is never learned from.

    ## What it checks
    In on-policy learning, rows are traced back to the steps of the rollout. Some steps are used again and again and
    others never, and in every rollout it is the same places: the same environments, or the same stretch of time.

    ## Why it matters
    Part of the experience is paid for and thrown away; if it is an environment or the end of episodes, what is learned
    is biased as well.

    ## Likely causes
    1. The loop over minibatches ends early, or always takes the first indices. Confirm: print the smallest and largest
       index used in an epoch.
    2. Only the first environment of the vector is stored, or flattened. Confirm: print the shape of the batch.
    3. The size of the batch is computed from steps without environments. Confirm: compare it with the number of rows.

    ## What to try first
    Count how often each row is used in an update.

    ## When it is fine
    The last step may be left out where it serves for the bootstrap only; so small a share is told as a note.

    ## References
    Seen in the wild: BUF-27 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "BUF312"
    name: ClassVar[str] = "part-of-rollout-never-learned"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "indices"

    rollouts: int = 2  # that agree on the places
    share: float = 0.15  # of the rollout; less is a note
    alike: float = 0.95  # of the places left out are left out in the next rollout, too

    def check(self, evidence: Script) -> Iterator[Finding]:
        by_module: dict[str, list[Rollout]] = {}
        for each in rollouts(evidence):
            by_module.setdefault(each.module, []).append(each)
        judged = max((len(each) for each in by_module.values()), default=0)
        if judged < self.rollouts:
            raise NotEnough(f"{judged} rollouts could be followed")
        # A step counts as used if any network learned from it.
        for found in by_module.values():
            # One that was seen to its end says what is never learned; one that was cut short can only agree.
            looks = sorted(found, key=lambda each: each.audit.cut)
            first, others = _places(looks[0]), [(each, _places(each)) for each in looks[1:]]
            used = [each.counts[each.counts > 0].mean() for each in looks if each.counts.any()]
            if looks[0].audit.cut or not first or not others or len(used) < len(looks):
                continue
            if any(
                len(first & places) < self.alike * len(first if each.audit.cut else first | places)
                for each, places in others
            ):
                continue
            size = len(looks[0].places)
            small = len(first) < self.share * size
            lanes = {lane for _, lane in first}
            steps = {step for step, _ in first}
            whole = len(first) == len(lanes) * len(set(looks[0].position.tolist()))
            what = (
                f"environments {_told(lanes)}"
                if whole
                else f"steps {_told(steps)} of {int(looks[0].position.max()) + 1}"
            )
            yield self.finding(
                "a part of every rollout is never learned from",
                where=looks[0].first.where,
                seen=f"{len(first)} of {size} steps are in no batch, the same in {len(looks)} rollouts ({what}); "
                "the others are "
                f"used {np.mean(used):.1f} times",
                expected="every step of the rollout",
                help="let the minibatches run over all steps of all environments",
                confidence=0.6 if small else 0.9,
                severity="note" if small else self.severity,
            )
            return


def _places(rollout: Rollout) -> set[tuple[int, int]]:
    lanes = rollout.audit.nodes.lane[rollout.places]
    missed = rollout.counts == 0
    return set(zip(rollout.position[missed].tolist(), lanes[missed].tolist(), strict=True))


def _told(numbers: set[int]) -> str:
    low, high = min(numbers), max(numbers)
    return (
        f"{low}"
        if low == high
        else f"{low}–{high}"
        if len(numbers) == high - low + 1
        else ", ".join(str(each) for each in sorted(numbers)[:6])
    )
