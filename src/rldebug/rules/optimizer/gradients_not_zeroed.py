"""Gradients are never cleared between two steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class GradientsNotZeroed(Rule):
    """Gradients are never cleared between two steps.

    ## What it checks
    From one step of an optimizer to its next, one gradient tensor is followed: it stayed the same tensor and was only
    added to, whenever it was looked at.

    ## Why it matters
    Each step applies the sum of all gradients so far. Old ones never fade, so the steps keep pointing where the first
    batches did, and grow.

    ## Likely causes
    1. `optimizer.zero_grad()` is missing. Confirm: `grad/norm` grows steadily from update to update (unless clipped).
    2. It is called on another optimizer, or on a module that does not hold these parameters. Confirm: the optimizer
       named in the finding against the one it is called on.
    3. It stands in a branch that is never taken, such as one for the end of an accumulation. Confirm: put a print
       beside it.

    ## What to try first
    Put `optimizer.zero_grad()` directly before `backward()`.

    ## When it is fine
    Accumulation over several backward passes for one step, cleared after the step: that is seen, and quiet.

    ## References
    PyTorch, `torch.optim.Optimizer.zero_grad`. *dirty-rl* (following the gradients).
    """

    code: ClassVar[str] = "OPT008"
    name: ClassVar[str] = "gradients-not-zeroed"
    severity: ClassVar[Severity] = "error"
    facts: ClassVar[tuple[str, ...]] = ("zeroing",)

    times: int = 3  # that it was looked at

    def check(self, evidence: Run) -> Iterator[Finding]:
        verdicts: dict[str, list[bool]] = {}
        for _, zeroed in evidence.facts("zeroing"):
            for name, verdict in zeroed.items():
                verdicts.setdefault(name, []).append(bool(verdict))
        if not any(len(each) >= self.times for each in verdicts.values()):
            raise NotEnough(f"it was looked at fewer than {self.times} times whether gradients are cleared")
        for name, each in verdicts.items():
            if len(each) < self.times or any(each):
                continue
            norm = [
                series for series in evidence.each("grad/norm") if series.name in ("grad/norm", f"grad/norm@{name}")
            ]
            grown = norm[0].finite if norm else None
            yield self.finding(
                "gradients are not cleared between steps" + (f" of optimizer {name}" if len(verdicts) > 1 else ""),
                where=evidence.call("update"),
                seen=f"added to the gradients of the step before, {len(each)} of {len(each)} times it was looked at"
                + (f"; grad/norm {grown.first:.3g} at first, {grown.tail(0.25).median():.3g} at last" if grown else ""),
                expected="gradients that start from 0 or None after every step",
                help="call zero_grad() on this optimizer before backward()",
                confidence=0.97,
            )
