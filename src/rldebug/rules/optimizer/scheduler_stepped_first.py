"""A learning-rate schedule moves before the optimizer's first step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class SchedulerSteppedFirst(Rule):
    """A learning-rate schedule moves before the optimizer's first step.

    ## What it checks
    PyTorch warned that `lr_scheduler.step()` was called before `optimizer.step()`.

    ## Why it matters
    The first learning rate of the schedule is skipped. In RL it is most often a sign of something worse: the schedule
    counts environment steps or episodes, the optimizer counts updates, and the learning rate is gone long before the
    training is.

    ## Likely causes
    1. `scheduler.step()` stands above `optimizer.step()`. Confirm: look at the two lines.
    2. It is called in every environment step, while the buffer still fills and nothing is learned. Confirm: print the
       learning rate at the first update.
    3. The step is skipped: a `GradScaler` found infinities, or the optimizer was made anew. Confirm: the scheduler
       holds the optimizer that steps.

    ## What to try first
    Call `scheduler.step()` right after `optimizer.step()`, once per update.

    ## When it is fine
    After a first step that a `GradScaler` skipped: one learning rate is passed over, no more.

    ## References
    PyTorch, `torch.optim`: how to adjust learning rate.
    """

    code: ClassVar[str] = "OPT421"
    name: ClassVar[str] = "scheduler-stepped-first"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(r"Detected call of `lr_scheduler\.step\(\)` before `optimizer\.step\(\)`")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        line = evidence.at.expression if evidence.at and evidence.at.expression else "scheduler.step()"
        step = line.rpartition(".step")[0]
        name = step if step.replace(".", "").isidentifier() else "the scheduler"
        yield self.finding(
            f"{name} moved the learning rate before the optimizer's first step",
            where=evidence.where,
            seen=f"{evidence.said.partition(' In PyTorch')[0]}; in `{line}`",
            expected="one step of the schedule after each update",
            help=f"call {name}.step() right after optimizer.step(), not in every environment step",
            confidence=0.9,
        )
