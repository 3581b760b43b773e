"""A log is written before it was begun."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class LoggedBeforeBegun(Rule):
    """A log is written before it was begun.

    ## What it checks
    Weights & Biases, MLflow or a similar service refused a value because no run is open.

    ## Why it matters
    Without a run there is nowhere to write to.

    ## Likely causes
    1. `wandb.init()` is called in another process or under another condition. Confirm: print `wandb.run`.
    2. `wandb.finish()` came before. Confirm: the same.

    ## What to try first
    Call `wandb.init()` once, before the first `wandb.log()`, and log from that process only.

    ## When it is fine
    Never: the program has ended.

    ## References
    Weights & Biases, `wandb.init`.
    """

    code: ClassVar[str] = "EVA452"
    name: ClassVar[str] = "logged-before-begun"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        closed = evidence.says("is (already )?finished", "No active run") and evidence.inside("wandb", "mlflow")
        return closed or evidence.says(r"must call wandb\.init\(\) before")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "a value was logged where no run is open",
            where=evidence.where,
            seen=evidence.said,
            expected="wandb.init() before the first log, in the same process",
            help="call wandb.init() before it, on rank 0 only, and log under the same condition",
            confidence=0.95,
        )
