"""Values run on over the end of an episode."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import runs_away, shown
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ValuesRunPastTheEnd(Rule):
    """Values run on over the end of an episode.

    ## What it checks
    A state whose episode ends with a reward of 1 is worth r / (1 − γ), as if the next episode were a part of this
    one; or its value rises on and on above what is right.

    ## Why it matters
    Ends are how an agent learns that something is over: without them dying is as good as living, and values grow with
    1 / (1 − γ).

    ## Likely causes
    1. The bootstrap is not masked: `r + γ V(s')` where it should be `r + γ V(s') (1 − terminated)`. Confirm: print
       the target of a last step; it must be the reward alone.
    2. The flag that is stored is that of another step, always False, or `truncated` in place of `terminated`.
       Confirm: count the True among the stored `terminated`; here every row is one.
    3. The mask is inverted, or multiplied with a tensor of another shape. Confirm: print mask and reward of ten rows
       side by side.

    ## What to try first
    Print reward, terminated and target for ten rows.

    ## When it is fine
    Where the task never ends, and `terminated` is never set: then this rung does not apply to it, but the code should
    still respect the flag.

    ## References
    Sutton and Barto, *Reinforcement Learning*, chapter 3.3–3.4 (episodic tasks, absorbing states).
    """

    code: ClassVar[str] = "DIS010"
    name: ClassVar[str] = "values-run-past-the-end"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = ("OPT010",)

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        for name in ("constant-reward", "observed-reward", "delayed-reward"):
            rung = evidence[name]
            if rung.outcome != "failed":
                continue
            told = rung.matched[:1] == ("end-ignored",)
            if not told and runs_away(rung) <= 0:
                continue
            yield self.finding(
                "values run on over the end of an episode",
                **shown(rung),
                help="print reward, terminated and target of ten rows: where terminated, the target is the reward",
                confidence=0.95 if told else 0.8,
            )
            return
