"""Where rewards are left to chance, their mean is not what is learned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import leaks, shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ValueNotTheMean(Rule):
    """Where rewards are left to chance, their mean is not what is learned.

    ## What it checks
    One step that pays 1.6 in two of five cases and 0.6 in three: the value must become 1, and rests elsewhere. Or,
    where episodes of two kinds take turns, the kind that pays 2 or nothing by chance is not worth 1.

    ## Why it matters
    Returns are random in every task. A critic that finds the median, or the best case, values risk wrongly.

    ## Likely causes
    1. The loss is absolute, or Huber with a tiny threshold: it finds the median, here 0.6. Confirm: print the loss
       function; try a squared one.
    2. Rewards are clipped: at 1 the mean becomes 0.76. Confirm: print the largest reward in the buffer; it must be
       1.6.
    3. Some rows count more than others: priorities without weights, or with weights of the wrong sign. Confirm: set
       all weights to 1 and draw all rows alike, and look again.
    4. Targets are only ever raised: a maximum over what was seen. Confirm: search for `max` on the way to the target.

    ## What to try first
    Print the rewards in the buffer, and the loss function's name.

    ## When it is fine
    Algorithms that learn quantiles or risk measures, where `value(obs)` is not a mean.

    ## References
    Schaul and others, *Prioritized experience replay* (importance weights).
    """

    code: ClassVar[str] = "VAL013"
    name: ClassVar[str] = "value-not-the-mean"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = (*up_to("POL016"), "ADV007")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        early, late = evidence["leaking-return"], evidence["noisy-reward"]
        rung = early if early.outcome == "failed" and not leaks(early) else late
        if rung.outcome != "failed":
            return
        hints = {
            "median": "this is the median: look at the loss, which must be squared near 0",
            "largest": "this is the largest: search for a max on the way to the target",
        }
        hint = next(
            (hints[each] for each in rung.matched if each in hints),
            "print the rewards in the buffer, and how rows are weighted in the loss",
        )
        yield self.finding(
            "where rewards are left to chance, something else than their mean is learned",
            **shown(rung),
            help=hint,
            confidence=0.75,
        )
