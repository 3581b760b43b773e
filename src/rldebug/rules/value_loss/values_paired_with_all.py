"""Every value is compared with every target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.pairs import paired
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ValuesPairedWithAll(Rule):
    """The value loss is taken over all pairs of values and targets.

    ## What it checks
    The shapes of prediction and target in the graph of the loss: (N, 1) against (N,) makes N × N differences, each
    prediction with each target. Exact.

    ## Why it matters
    Every prediction is drawn to the mean target of the batch: the critic learns a constant.

    ## Likely causes
    1. The last layer has one output and its column is kept: `(N, 1)`. Confirm: print both shapes before the loss.
    2. `gather` keeps its axis. Confirm: as before.
    3. Rewards or flags of the shape (N,) were added to values (N, 1): the target itself is (N, N). Confirm: print the
       shapes of all that the target is computed from.

    ## What to try first
    `value.squeeze(-1)`, and assert that both shapes are equal.

    ## When it is fine
    Quantile losses compare all quantiles of a row with each other: their two sides have another size than the pairs.

    ## References
    The PyTorch documentation on broadcasting semantics.
    Seen in the wild: VAL-08 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "VAL330"
    name: ClassVar[str] = "values-paired-with-all"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "compared"
    explains: ClassVar[tuple[str, ...]] = ("VAL430",)  # torch's own warning about it

    losses: int = 2  # regressions whose shapes are known; as many with all pairs

    def check(self, evidence: Script) -> Iterator[Finding]:
        found, judged = paired(evidence, "regression", "prediction", "target")
        if judged < self.losses:
            raise NotEnough(f"{judged} regressions whose shapes are known, needs {self.losses}")
        if len(found) < self.losses:
            return
        term = found[0][1]
        shapes = {name: tuple(shape) for name, shape in term["shapes"].items()}
        spread = next((name for name, shape in shapes.items() if shape[-2:] == (shape[-1],) * 2), None)
        yield self.finding(
            "the value loss compares every prediction with every target",
            where=term.where,
            seen=f"predictions {shapes['prediction']} and targets {shapes['target']} make {term['rows']} differences, "
            f"in {len(found)} of {judged} regressions",
            expected="one difference per row: both of the shape (N,)",
            help="give value and target the same shape before the loss: value.squeeze(-1)"
            if spread is None
            else f"the {spread} has become {shapes[spread]} where it was computed: a row ({shapes[spread][-1]},) met a "
            f"column ({shapes[spread][-1]}, 1) there; give both the same shape, such as reward[:, None]",
            confidence=0.98,
        )
