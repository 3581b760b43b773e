"""What an advantage is computed from differs in shape."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.place import place
from rldebug.evidence.crashes.signs import operands_told, shapes_meet_badly
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class AdvantagePartsDiffer(Rule):
    """What an advantage is computed from differs in shape.

    ## What it checks
    Shapes did not fit where data without a graph is put together, in a program that weighs log-probs.

    ## Why it matters
    Rewards, values and flags of one step belong together; if one list is longer, all the others are shifted against it.

    ## Likely causes
    1. The values hold one more than the rewards: the last, for the bootstrap. Confirm: the lengths differ by 1.
    2. Something is stored for each environment, something else once. Confirm: print the shapes; one has the number of
       environments.
    3. Steps and environments are swapped: (n_steps, n_envs) meets (n_envs, n_steps). Confirm: the same.

    ## What to try first
    Print the shapes of rewards, values and flags before they are put together.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Broadcasting semantics*.
    """

    code: ClassVar[str] = "ADV430"
    name: ClassVar[str] = "advantage-parts-differ"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return shapes_meet_badly(evidence) and place(evidence) == "advantage"

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "what an advantage is computed from differs in shape",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="rewards, values and flags of one shape",
            help="bring rewards, values and flags to one shape, (n_steps, n_envs), and keep the last value apart",
            confidence=0.6,
        )
