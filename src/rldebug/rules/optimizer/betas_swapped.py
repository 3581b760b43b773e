"""Adam's two averages are swapped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class BetasSwapped(Rule):
    """Adam's two averages are swapped.

    ## What it checks
    The `betas` of each optimizer that steps: the first, of the gradient, is 0.99 or more, and the second, of its
    square, is below the first.

    ## Why it matters
    The direction is an average over hundreds or thousands of steps, long out of date in reinforcement learning, while
    its scale follows every batch: a step can be many times as long as the learning rate says.

    ## Likely causes
    1. The two numbers were given in the wrong order. Confirm: `optimizer.param_groups[0]["betas"]`.

    ## What to try first
    `betas=(0.9, 0.999)`.

    ## When it is fine
    Never.

    ## References
    Kingma and Ba, *Adam: A Method for Stochastic Optimization*.
    """

    code: ClassVar[str] = "OPT312"
    name: ClassVar[str] = "betas-swapped"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "optimizer"

    slow: float = 0.99  # first beta from which on it is taken for the second
    steps: int = 8  # of the optimizer

    def check(self, evidence: Script) -> Iterator[Finding]:
        stepping = {key: each for key, each in evidence.optimizers.items() if int(each.get("steps") or 0) >= self.steps}
        if not stepping:
            raise NotEnough(f"no optimizer took {self.steps} steps")
        for name, each in stepping.items():
            betas = (each.get("settings") or {}).get("betas")
            if not isinstance(betas, (list, tuple)) or len(betas) != 2:
                continue
            if self.slow <= betas[0] and betas[1] < betas[0]:
                created = each.get("created")
                yield self.finding(
                    f"the two betas of optimizer {name} are swapped",
                    where=Where(file=created[0], line=created[1]) if created else None,
                    seen=f"{each['class']} with betas=({betas[0]:g}, {betas[1]:g})",
                    expected="the second above the first, as in (0.9, 0.999)",
                    help="swap them",
                    confidence=0.9,
                )
