"""An optimizer steps again on the gradient of its last step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.updates import updates_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class GradientUsedTwice(Rule):
    """An optimizer steps again on the gradient of its last step.

    ## What it checks
    Two steps of one optimizer follow one another with no backward pass in between, of any loss, and the gradient that
    they use has the very same norm. It is so in a fifth of its steps at least. Exact.

    ## Why it matters
    Each gradient is applied more than once: the learning rate is a multiple of what it says, and Adam's averages are
    of the same gradient again and again.

    ## Likely causes
    1. `optimizer.step()` is called in a helper and once more by the loop. Confirm: search for `.step()`.
    2. `step()` stands in a loop in which the backward pass does not. Confirm: compare their indentation.
    3. One optimizer is stepped for each of several networks. Confirm: count the optimizers.

    ## What to try first
    One `step()` for each `zero_grad()` and `backward()`.

    ## When it is fine
    Never: who wants larger steps raises the learning rate.

    ## References
    PyTorch, `torch.optim.Optimizer.step`.
    """

    code: ClassVar[str] = "OPT305"
    name: ClassVar[str] = "gradient-used-twice"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    times: int = 4  # that it was seen
    share: float = 0.2  # of the optimizer's steps

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged = False
        for name, updates in updates_of(evidence).items():
            thing = evidence.optimizers.get(name, {})
            passes = {each.step.get("backwards") for each in updates}
            if len(updates) < 2 * self.times or len(passes) < self.times:
                continue  # none at all: evolution strategies, which write gradients by hand
            judged = True
            pairs = [(a, b) for a, b in pairwise(updates) if not b.first]
            again = [
                b
                for a, b in pairs
                if a.step.get("backwards") is not None
                and a.step["backwards"] == b.step["backwards"]
                and b.step.get("grad_norm")
                and a.step.get("grad_norm") == b.step["grad_norm"]
                and a.step.get("change_norm") != 0.0
            ]
            idle, steps = int(thing.get("idle") or 0), int(thing.get("steps") or 0)
            if len(again) >= self.times and idle >= self.share * steps and len(again) >= self.share * len(pairs):
                yield self.finding(
                    f"optimizer {name} steps again on a gradient that it has used",
                    where=again[0].step.where,
                    seen=f"{idle} of {steps} steps with no backward pass since the step before, and the same gradient",
                    expected="one step for each gradient",
                    help="call step() once after each backward()",
                    confidence=0.97,
                )
        if not judged:
            raise NotEnough(f"no optimizer was seen to step {2 * self.times} times")
