"""A part of the input changes with every step while the program acts, and never from a row of a batch to its next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.still_columns import still_columns
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class InputStillInNextRow(Rule):
    """A part of the input moves in acting, and stands still in batches.

    ## What it checks
    Which numbers of an observation the network is given while the program acts, and how often a step changes each. In
    the batches it learns from, the same places of the input are compared between the observations that are predicted
    and those that targets are bootstrapped from. Some that change all the time there never change here.

    ## Why it matters
    The network learns from something else than what it acts on.

    ## Likely causes
    1. The policy is handed the achieved goal where it learns with the desired one. Confirm: print both inputs.
    2. A part of the next observation is filled from the observation. Confirm: print both, side by side.

    ## What to try first
    Build the input by one function, for acting and for both sides of a batch.

    ## When it is fine
    Never.

    ## References
    Andrychowicz et al. 2017, *Hindsight Experience Replay*.
    """

    code: ClassVar[str] = "BUF358"
    name: ClassVar[str] = "input-still-in-next-row"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    follows: ClassVar[tuple[str, ...]] = ("BUF302",)

    def check(self, evidence: Script) -> Iterator[Finding]:
        seen = still_columns(evidence)
        if seen is None:
            raise NotEnough("no batches beside what the network is given to act")
        if len(seen.columns):
            named = ", ".join(str(each) for each in seen.columns[:6]) + (" …" if len(seen.columns) > 6 else "")
            yield self.finding(
                "a part of the input never changes from observation to next observation",
                where=seen.term.where,
                seen=f"columns {named} of {seen.width}: {seen.often:.0%} of the steps change them while it acts, and "
                f"none of {seen.rows} rows of batches",
                expected="the same input in acting and in learning, before the step and after it",
                help="build the input of the network in one place",
                confidence=0.93,
            )
