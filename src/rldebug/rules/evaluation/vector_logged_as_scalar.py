"""Something is logged as a number that is none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import calls as _calls
from rldebug.evidence.crashes.signs import told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class VectorLoggedAsScalar(Rule):
    """Something is logged as a number that is none.

    ## What it checks
    TensorBoard or a similar writer refused a tensor of several elements, a dictionary or None as a scalar.

    ## Why it matters
    A curve has one number for each step.

    ## Likely causes
    1. A loss or a reward of a batch is logged without `.mean()`. Confirm: the shape in `seen`.
    2. A vector environment's returns are logged at once. Confirm: the same.

    ## What to try first
    Log `.mean().item()`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `SummaryWriter.add_scalar`.
    """

    code: ClassVar[str] = "EVA451"
    name: ClassVar[str] = "vector-logged-as-scalar"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        refused = evidence.says(
            "should contain one element",
            "scalar should be 0D",
            "numpy array or torch tensor are expected",
            "value should be one of int, float, str, bool",
        )
        return refused and (
            evidence.inside("torch.utils.tensorboard", "tensorboard", "tensorboardX") or bool(_call(evidence))
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        shaped = [
            (name, fact)
            for name, fact in evidence.operands().items()
            if fact["kind"] in ("tensor", "array", "collection") and fact.get("shape", [2]) not in ([], [1])
        ]
        name, fact = shaped[0] if shaped else ("", None)
        yield self.finding(
            f"{name or 'a value'} was logged as a number and {'is ' + told(fact) if fact else 'is none'}",
            where=evidence.where,
            seen=" ".join(evidence.said.split()),
            expected="one number for each step",
            help=f"log {name or 'the value'}.mean().item(), or each element under a name of its own",
            confidence=0.95,
        )


def _call(evidence: Crash) -> bool:
    return _calls(evidence.at, "add_scalar", "add_scalars", "add_hparams", "log")
