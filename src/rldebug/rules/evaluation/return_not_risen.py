"""Returns are no better than before the first update."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.learning import change, curve_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ReturnNotRisen(Rule):
    """The agent is no better than it was before it learned.

    ## What it checks
    The last episodes against those that ended before the first update, which the untrained policy played. A permutation
    test finds no difference, though a gain of half the spread of the first returns would have shown with 95 %.

    ## Why it matters
    It says how much is known: not "no gain yet", but "no gain, and one this large would have been seen".

    ## Likely causes
    1. It takes longer. Confirm: how many steps do published runs need?
    2. Something that does not stop the program keeps it from learning. Confirm: the other findings.
    3. The reward is hardly ever met. Confirm: the share of rewards that are not zero.

    ## What to try first
    Train on the smallest version of the task: a shorter horizon, a reward at each step.

    ## When it is fine
    Short runs, hard tasks, and tasks that a random policy solves already.

    ## References
    Henderson et al., *Deep reinforcement learning that matters* (how many runs and episodes a comparison needs).
    """

    code: ClassVar[str] = "EVA300"
    name: ClassVar[str] = "return-not-risen"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "Script"

    episodes: int = 20  # at the start, and at the end
    late: float = 0.2  # share of the episodes that are the last ones
    updates: int = 50  # in all
    chance: float = 0.05  # below which returns have changed
    visible: float = 0.5  # gain, in spreads of the first returns, that must have had to show

    def check(self, evidence: Script) -> Iterator[Finding]:
        curve = curve_of(evidence)
        updates = int(evidence.counts.get("updates") or (curve.at[-1] if len(curve) else 0))
        first = curve.untrained(self.episodes)
        last = max(self.episodes, int(self.late * len(curve)))
        if first < self.episodes or len(curve) - first < last:
            raise NotEnough(f"{first} episodes of the untrained policy and {len(curve) - first} later ones")
        if updates < self.updates:
            raise NotEnough(f"{updates} updates, needs {self.updates}")
        seen = change(curve.returns[:first], curve.returns[-last:])
        if seen.spread == 0.0 and seen.error == 0.0:
            return  # all alike: other rules speak of that
        if seen.chance < self.chance or seen.visible > self.visible * seen.spread:
            return
        share = f" ({seen.visible / abs(seen.before):.0%})" if abs(seen.before) > seen.visible else ""
        yield self.finding(
            "returns are no better than before the first update",
            where=Where(update=updates),
            seen=f"{seen.after:.4g} over the last {seen.counts[1]} episodes, {seen.before:.4g} over the first "
            f"{seen.counts[0]}; a gain of {seen.visible:.3g}{share} would have shown by now, with 95 % certainty",
            expected="returns that rise, or a longer run",
            help="compare with the steps that published runs need; then train on the smallest version of the task",
            confidence=0.7,
        )
