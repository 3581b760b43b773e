"""A new optimizer is made every few steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class OptimizerMadeAnew(Rule):
    """A new optimizer is made every few steps.

    ## What it checks
    Optimizers that keep running averages (Adam, RMSprop, momentum), all made by the same line for the same network:
    ten or more of them, each of which takes three steps at most before the next one is made. Exact.

    ## Why it matters
    The averages start from nothing each time. Adam's first steps have the full size of the learning rate in every
    weight, whatever the gradient: that is noise, not descent.

    ## Likely causes
    1. The optimizer is made inside the training loop, or in the function that computes an update. Confirm: read the
       line that is named.

    ## What to try first
    Make it once, beside the network.

    ## When it is fine
    Where a network is fitted from scratch each time, with many steps: that is not counted.

    ## References
    Kingma and Ba, *Adam: A Method for Stochastic Optimization*.
    """

    code: ClassVar[str] = "OPT314"
    name: ClassVar[str] = "optimizer-made-anew"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    count: int = 10  # optimizers of one line
    steps: int = 3  # of each, in the median

    def check(self, evidence: Script) -> Iterator[Finding]:
        lines: dict[tuple[str, int, tuple[str, ...]], list[Mapping[str, Any]]] = {}
        for each in evidence.optimizers.values():
            if each.get("created") and each.get("modules") and each.get("steps"):
                key = (str(each["created"][0]), int(each["created"][1]), tuple(sorted(each["modules"])))
                lines.setdefault(key, []).append(each)
        if not lines:
            raise NotEnough("no optimizer was seen to be made and to step")
        for (file, line, modules), made in lines.items():
            steps = [int(each["steps"]) for each in made]
            if len(made) >= self.count and np.median(steps) <= self.steps and all(map(_remembers, made)):
                yield self.finding(
                    f"the optimizer of {', '.join(modules)} is made anew again and again",
                    where=Where(file=file, line=line),
                    seen=f"{len(made)} of {made[0]['class']}, with {np.median(steps):g} steps each in the median",
                    expected="one optimizer that lives as long as its network",
                    help="make it once, before the training loop",
                    confidence=0.95,
                )


def _remembers(optimizer: Mapping[str, Any]) -> bool:
    """Whether it keeps anything from step to step."""
    settings = optimizer.get("settings") or {}
    return bool(settings.get("momentum")) if optimizer.get("class") == "SGD" else optimizer.get("class") != "LBFGS"
