"""Nearly all weights of a network are zero, and stay so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.batches import owned
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class WeightsStartAtZero(Rule):
    """Nearly all weights of a network are zero, and stay so.

    ## What it checks
    Nine tenths and more of the weights of a network that an optimizer steps are exactly zero, at every look, after
    dozens of steps.

    ## Why it matters
    Where two layers in a row are zero, no gradient passes: the network gives one answer, its last bias, to everything.

    ## Likely causes
    1. All layers are initialised with zeros. Confirm: read the initialisation.
    2. Weights are multiplied by zero, or masked. Confirm: the same.

    ## What to try first
    Leave the initialisation to PyTorch; at most the last layer may begin at zero.

    ## When it is fine
    Networks that are pruned on purpose.

    ## References
    Goodfellow et al., *Deep Learning*, chapter 8.4.
    """

    code: ClassVar[str] = "NET351"
    name: ClassVar[str] = "weights-start-at-zero"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    zero: float = 0.9  # share of outputs, or of weights, that are exactly zero
    looks: int = 2  # at the weights
    updates: int = 10  # before the last look

    def check(self, evidence: Script) -> Iterator[Finding]:
        looks: dict[str, list[tuple[float, int]]] = {}
        for _, event in evidence.events("weights"):
            name = str(event["module"])
            thing = evidence.modules.get(name, {})
            if event.get("zero") is not None and owned(evidence, name) and int(thing.get("tensors") or 0) >= 4:
                looks.setdefault(name, []).append((float(event["zero"]), event.update))
        judged = {name: each for name, each in looks.items() if len(each) >= self.looks and each[-1][1] >= self.updates}
        if not judged:
            raise NotEnough("no trained network was looked at twice")
        for name, each in judged.items():
            if all(zero >= self.zero for zero, _ in each):
                line = evidence.modules.get(name, {}).get("line")
                yield self.finding(
                    f"nearly all weights of {name} are zero",
                    where=Where(file=line[0], line=line[1]) if line else Where(),
                    seen=f"{each[-1][0]:.1%} of them after {each[-1][1]} steps",
                    expected="weights that begin small and different",
                    help="leave the initialisation to PyTorch, or draw the weights at random",
                    confidence=0.94,
                )
                return
