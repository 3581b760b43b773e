"""Advantages are in another order than the rows they weight."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.targets import fit_weights
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class AdvantagesInAnotherOrder(Rule):
    """Advantages are in another order than the rows they weight.

    ## What it checks
    The weights of the log-probs are the advantages that follow from the targets of the critic, number for number, but
    not in the rows that they belong to.

    ## Why it matters
    Actions are credited with the advantages of others: the gradient is noise.

    ## Likely causes
    1. Advantages are collected from the last step to the first and never reversed. Confirm: print the last advantage,
       it must be the TD error of the last step.
    2. They are stored, or cut off, one step apart. Confirm: the first advantage must be that of the first step.
    3. Advantages and observations are flattened in different orders, or shuffled apart. Confirm: compare shapes and
       indices.

    ## What to try first
    Reverse what was collected backwards, and index all arrays with the same indices.

    ## When it is fine
    Never.

    ## References
    Seen in the wild: BUF-19 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ADV321"
    name: ClassVar[str] = "advantages-in-another-order"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "weight"
    follows: ClassVar[tuple[str, ...]] = ("BUF342",)

    def check(self, evidence: Script) -> Iterator[Finding]:
        weights = fit_weights(evidence)
        if not weights:
            raise NotEnough("what the log-probs are weighted with was not found")

        for each in weights:
            if each.of in ("unordered", "before", "after"):
                whose = f"are those of the step {each.of}"
                if each.of == "unordered":
                    whose = "are their advantages only when both are sorted"
                yield self.finding(
                    "advantages are in another order than the actions they weight",
                    where=each.where,
                    seen=f"the weights of {each.terms} losses {whose}",
                    expected="the advantage of each action beside its log-prob",
                    help="reverse or flatten advantages as the observations are",
                    confidence=0.97,
                )
