"""Something random is drawn inside of vmap."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class RandomInsideVmap(Rule):
    """Something random is drawn inside of vmap.

    ## What it checks
    `torch.vmap` met a random operation and was not told how to draw.

    ## Why it matters
    For an ensemble or a population it matters whether each member draws for itself.

    ## Likely causes
    1. Dropout or a sampled action stands in the function that is mapped. Confirm: call `eval()`, or look for
       `sample`.

    ## What to try first
    Say `randomness="different"`, or draw outside and hand it in.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.vmap`: randomness.
    """

    code: ClassVar[str] = "NET450"
    name: ClassVar[str] = "random-inside-vmap"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says("vmap: called random operation")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "something random is drawn inside of vmap",
            where=evidence.where,
            seen=f"{evidence.said[:110]}, in `{evidence.at.expression if evidence.at else ''}`",
            expected="a word on whether the members share their draws",
            help='vmap(…, randomness="different") for draws of their own, "same" for shared ones',
            confidence=0.95,
        )
