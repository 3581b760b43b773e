"""Every log-prob is multiplied with every advantage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.pairs import paired
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class LogProbsPairedWithAll(Rule):
    """The policy loss is taken over all pairs of log-probs and advantages.

    ## What it checks
    The shapes of log-probs (or ratios) and advantages in the graph of the loss: (N, 1) against (N,) makes N × N
    products, each log-prob with each advantage. Exact.

    ## Why it matters
    Every action is credited with the mean advantage of the batch: no row has credit of its own, and with normalised
    advantages the gradient is about 0.

    ## Likely causes
    1. A trailing axis is kept on one side: `(N, 1)`. Confirm: print both shapes in the line of the product.
    2. The values keep their column, and so do the advantages made from them. Confirm: `values.shape`.

    ## What to try first
    `squeeze(-1)` the one with the extra axis, and assert that both shapes are equal.

    ## When it is fine
    A weight for each sequence and a log-prob for each token, (B, 1) against (B, T), are not counted: their sizes
    differ.

    ## References
    The PyTorch documentation on broadcasting semantics.
    """

    code: ClassVar[str] = "POL306"
    name: ClassVar[str] = "log-probs-paired-with-all"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    follows: ClassVar[tuple[str, ...]] = ("VAL330",)  # values with a column too many make advantages of all pairs

    losses: int = 2  # whose shapes are known; as many with all pairs

    def check(self, evidence: Script) -> Iterator[Finding]:
        found, judged = paired(evidence, "policy", "logp", "weight")
        ratios, judged_ratios = paired(evidence, "policy", "ratio", "weight")
        found, judged = (ratios, judged_ratios) if len(ratios) > len(found) else (found, judged)
        if judged < self.losses:
            raise NotEnough(f"{judged} policy losses whose shapes are known, needs {self.losses}")
        if len(found) < self.losses or len(found) < 0.5 * judged:
            return
        term = found[0][1]
        shapes = {name: tuple(shape) for name, shape in term["shapes"].items()}
        yield self.finding(
            "the policy loss multiplies every log-prob with every advantage",
            where=term.where,
            seen=f"log-probs {shapes.get('logp', shapes.get('ratio'))} and "
            f"advantages {shapes['weight']} make {term['rows']} products, "
            f"in {len(found)} of {judged} losses",
            expected="one product per row: both of the shape (N,)",
            help="give both the same shape, for example advantage.squeeze(-1), and assert it",
            confidence=0.98,
        )
