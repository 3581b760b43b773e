"""The learning rate is off by powers of ten."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class LearningRateAbsurd(Rule):
    """The learning rate is off by powers of ten.

    ## What it checks
    Adam and its kin move every weight by about the learning rate in each step, whatever the gradient. Here the rate of
    an optimizer of a network is 0.05 or more, and single steps were seen to move the weights by a thirtieth of their
    size and more; or it never was above 0.0000001.

    ## Why it matters
    With the one the network forgets everything at each step and its units saturate; with the other it stays as it was.

    ## Likely causes
    1. A slip in the exponent: `3e-1` for `3e-4`. Confirm: print the rate.
    2. The rate of another optimizer, or another setting, was given. Confirm: the same.

    ## What to try first
    Adam with 3e-4.

    ## When it is fine
    Tables and other networks of a few hundred weights, which are left out; and large networks that are fine-tuned.

    ## References
    Kingma and Ba 2015, *Adam: A Method for Stochastic Optimization*.
    """

    code: ClassVar[str] = "OPT351"
    name: ClassVar[str] = "learning-rate-absurd"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    high: float = 0.05  # rate
    low: float = 1e-7  # rate
    moved: float = 0.03  # of the weights' size, in one step
    smallest: int = 400  # weights
    largest: int = 1_000_000  # weights
    steps: int = 20  # that must be there

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged = False
        for name, each in evidence.optimizers.items():
            rate, top = each.get("lr_first"), each.get("lr_highest")
            count, steps = int(each.get("numel") or 0), int(each.get("steps") or 0)
            if rate is None or top is None or not each.get("modules") or steps < self.steps:
                continue
            if "Adam" not in str(each.get("class")) and "RMSprop" not in str(each.get("class")):
                continue
            if not self.smallest <= count <= self.largest:
                continue
            judged = True
            moves = [
                float(step["change"])
                for _, step in evidence.events("step")
                if step["optimizer"] == name and step.get("change") is not None and np.isfinite(step["change"])
            ]
            created = each.get("created")
            where = Where(file=created[0], line=created[1]) if created else Where()
            if float(rate) >= self.high and len(moves) >= 3 and float(np.median(moves[:8])) > self.moved:
                yield self.finding(
                    f"the learning rate of {name} is {float(rate):g}",
                    where=where,
                    seen=f"{each['class']} of {count} weights; its first steps move them by "
                    f"{float(np.median(moves[:8])):.0%} of their size each",
                    expected="1e-4 to 1e-3",
                    help="lower the learning rate",
                    confidence=0.9,
                )
            elif 0 < float(top) < self.low:
                yield self.finding(
                    f"the learning rate of {name} is {float(top):g}",
                    where=where,
                    seen=f"{each['class']} of {count} weights, in {steps} steps",
                    expected="1e-4 to 1e-3",
                    help="raise the learning rate",
                    confidence=0.9,
                )
        if not judged:
            raise NotEnough("no optimizer of a network was seen whose rate is the size of its steps")
