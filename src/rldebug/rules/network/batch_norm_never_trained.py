"""Batch norm learns nothing about its inputs: the network is never in training mode."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.updates import resumed
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class BatchNormNeverTrained(Rule):
    """Batch norm is never in training mode.

    ## What it checks
    A network with batch norm is trained by an optimizer, and is in evaluation mode in every call that was seen, also
    in those that a loss is computed from.

    ## Why it matters
    The running mean and variance stay at 0 and 1: nothing is normalised, though the layers are there.

    ## Likely causes
    1. `eval()` was called for acting, and `train()` is never called again. Confirm: print `net.training` in the update.

    ## What to try first
    `net.train()` before the update, `net.eval()` before acting.

    ## When it is fine
    Layers that were trained before and are to stay as they are: read from a file, and not judged.

    ## References
    PyTorch, `torch.nn.BatchNorm1d`.
    """

    code: ClassVar[str] = "NET302"
    name: ClassVar[str] = "batch-norm-never-trained"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    calls: int = 4  # with gradients, in audits
    audits: int = 2  # in which it learned

    def check(self, evidence: Script) -> Iterator[Finding]:
        if resumed(evidence) or len(evidence.audits) < self.audits:
            raise NotEnough(f"weights came out of a file, or fewer than {self.audits} audits")
        for name, thing in evidence.modules.items():
            kinds = [each for each in thing.get("layers") or {} if "BatchNorm" in each]
            if not kinds or not thing.get("owners"):
                continue
            calls = [(audit, event) for audit, event in evidence.events("call") if event["module"] == name]
            learning = [(audit, event) for audit, event in calls if event["grad"] and not event.get("acting")]
            count, all_calls = (sum(int(event.get("calls") or 1) for _, event in each) for each in (learning, calls))
            if count < self.calls or len({audit.number for audit, _ in learning}) < self.audits:
                continue
            if any(event["training"] for _, event in calls):
                continue
            yield self.finding(
                f"{name} has batch norm, and is never in training mode",
                where=learning[0][1].where,
                seen=f"evaluation mode in all of {all_calls} calls, {count} of them with gradients; "
                f"layers: {', '.join(kinds)}",
                expected="training mode in the update, evaluation mode when acting",
                help=f"call {name}.train() before the update",
                confidence=0.9,
            )
