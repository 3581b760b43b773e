"""A sum of several steps runs on into the next episode."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import leaks, shown
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class WindowCrossesEpisodes(Rule):
    """A sum of several steps runs on into the next episode.

    ## What it checks
    Two kinds of episodes in turn: the pay of the second is believed to be worth something in the first, though an end
    lies between them. For algorithms without a λ, whose sums are those of the buffer. On the first rung the same
    shows as n rewards in an episode of one.

    ## Why it matters
    Targets hold rewards that no action of their episode has earned.

    ## Likely causes
    1. The window of n steps is not cut where an episode ends. Confirm: print the rows of a window that begins one
       step before an end.
    2. The window crosses the place where the ring is being written. Confirm: fill the buffer twice, and look at
       windows around the newest row.
    3. Only terminated cuts it, and truncated does not. Confirm: the same, with an episode that is cut off.

    ## What to try first
    Print reward and flags of the rows that one n-step sum is made of, beginning one step before an end.

    ## When it is fine
    Never.

    ## References
    Sutton and Barto, *Reinforcement Learning*, chapter 7.1 (n-step returns stop at the end).
    """

    code: ClassVar[str] = "BUF010"
    name: ClassVar[str] = "window-crosses-episodes"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = ("OPT010",)

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        n = evidence.declared.get("n_step", 1)
        first = evidence["constant-reward"]
        value = first.mean("value")
        if first.outcome == "failed" and n > 1 and value is not None:
            window = sum(evidence.declared.get("gamma", 1.0) ** k for k in range(int(n)))
            if abs(float(value[0]) - window) <= 0.1 * window:
                yield self.finding(
                    f"a sum of {n} steps takes {n} rewards from episodes of one step",
                    **shown(first),
                    help="print reward and flags of the rows that one n-step sum is made of, one step before an end",
                    confidence=0.9,
                )
                return
        rung = evidence["leaking-return"]
        if rung.outcome != "failed" or "lam" in evidence.declared or not leaks(rung):
            return
        yield self.finding(
            "a sum of several steps runs on into the next episode",
            **shown(rung),
            help="print reward and flags of the rows that one n-step sum is made of, one step before an end",
            confidence=0.9 if rung.matched else 0.75,
        )
