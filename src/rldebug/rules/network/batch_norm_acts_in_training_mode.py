"""A network with batch norm acts in training mode."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.roles import acting_calls
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class BatchNormActsInTrainingMode(Rule):
    """A network with batch norm acts in training mode.

    ## What it checks
    A network with batch norm is in training mode in every call on the current observations.

    ## Why it matters
    What it says of one environment depends on where the others are at that moment, and its running statistics follow
    the few states of the moment. The same state gets another action, and another log-prob, in the update.

    ## Likely causes
    1. `eval()` is never called before acting. Confirm: print `net.training` in the environment loop.

    ## What to try first
    `net.eval()` before acting, `net.train()` before the update; or layer norm, which has no such modes.

    ## When it is fine
    Layers that are called with momentum 0 on purpose.

    ## References
    PyTorch, `torch.nn.BatchNorm1d`.
    """

    code: ClassVar[str] = "NET303"
    name: ClassVar[str] = "batch-norm-acts-in-training-mode"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    audits: int = 2  # in which it acted

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = [
            (audit, event)
            for audit, event in acting_calls(evidence)
            if any("BatchNorm" in each for each in evidence.modules.get(str(event["module"]), {}).get("layers") or {})
        ]
        if len({audit.number for audit, _ in found}) < self.audits:
            raise NotEnough(f"no network with batch norm was seen to act in {self.audits} audits")
        for name in sorted({str(event["module"]) for _, event in found}):
            calls = [event for _, event in found if event["module"] == name]
            if all(event["training"] for event in calls) and evidence.modules[name].get("owners"):
                yield self.finding(
                    f"{name} has batch norm, and acts in training mode",
                    where=calls[0].where,
                    seen=f"training mode in {len(calls)} of {len(calls)} recorded stretches of acting",
                    expected="evaluation mode when acting, training mode in the update",
                    help=f"call {name}.eval() before acting, and {name}.train() before the update",
                    confidence=0.85,
                )
