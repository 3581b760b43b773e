"""Optimizer steps leave every weight as it was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class StepChangesNothing(Rule):
    """Optimizer steps leave every weight as it was.

    ## What it checks
    At every recorded step of an optimizer, each parameter tensor with a gradient other than 0 has, bit for bit, the
    same weights after the step as before it. Where the learning rate is 0, that is what the finding says.

    ## Why it matters
    Nothing is learned, while losses, gradients and steps look as they should.

    ## Likely causes
    1. The learning rate is 0: an integer division, a schedule called with the wrong unit so that it is over at once,
       a configuration value that was not read. Confirm: `optimizer/lr` is 0 in every reading.
    2. The step is smaller than the weights' last digit: a tiny learning rate in half precision. Confirm: the
       parameters' dtype; keep float32 copies of the weights.
    3. A wrapper discards the step, or the weights are written back before the step ends. Confirm: print one weight
       before and after `optimizer.step()`.

    ## What to try first
    Print `optimizer.param_groups[0]["lr"]` just before the first step.

    ## When it is fine
    Warm-up that starts at 0 and annealing that ends at 0: only a run in which *every* recorded step does nothing
    counts.

    ## References
    PyTorch, `torch.optim.lr_scheduler`. Loshchilov and Hutter, *SGDR* (schedules that reach 0).
    """

    code: ClassVar[str] = "OPT003"
    name: ClassVar[str] = "step-changes-nothing"
    severity: ClassVar[Severity] = "error"
    needs: ClassVar[tuple[str, ...]] = ("step/unchanged",)

    readings: int = 8  # steps, all without effect

    def check(self, evidence: Run) -> Iterator[Finding]:
        judged = False
        for series in evidence.each("step/unchanged"):
            unchanged = series.finite
            if len(unchanged) < self.readings:
                continue
            judged = True
            if unchanged.min() < 1.0:
                continue
            optimizer = series.name.partition("@")[2]
            rate = evidence[series.name.replace("step/unchanged", "optimizer/lr")].finite
            off = len(rate) > 0 and rate.max() == 0.0
            place = unchanged.where(0)
            yield self.finding(
                ("the learning rate is 0" if off else "optimizer steps change no weight")
                + (f" in optimizer {optimizer}" if optimizer else ""),
                where=replace(evidence.call("update"), update=place.update, env_step=place.env_step),
                seen=f"all weights unchanged by all {len(unchanged)} recorded steps with gradients other than 0"
                + (f"; learning rate {rate.min():g} to {rate.max():g}" if len(rate) else ""),
                expected="weights that move in the steps in which they have a gradient",
                help="find out where the learning rate comes from: an integer division or a schedule makes it 0"
                if off
                else "print one weight before and after optimizer.step(), and its dtype",
                confidence=0.98,
            )
        if not judged:
            raise NotEnough(f"fewer than {self.readings} recorded steps with a gradient")
