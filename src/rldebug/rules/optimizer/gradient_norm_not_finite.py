"""The norm of the gradients to be clipped is NaN or infinite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.lines import at, listed
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class GradientNormNotFinite(Rule):
    """The norm of the gradients to be clipped is NaN or infinite.

    ## What it checks
    `clip_grad_norm_(…, error_if_nonfinite=True)` ended the program.

    ## Why it matters
    A step along such a gradient makes every weight NaN; that the program ends here is what was asked for.

    ## Likely causes
    1. The loss itself is NaN: an observation, a reward, an advantage divided by a standard deviation of 0. Confirm:
       print `torch.isfinite(…).all()` of each term of the loss.
    2. The loss is finite, and its derivative is not: the root or the logarithm of 0, an action at the edge of its
       range, a distribution with a scale near 0. Confirm: run once under `torch.autograd.set_detect_anomaly(True)`.
    3. The gradients overflow in half precision. Confirm: the same batch in float32.

    ## What to try first
    Look for the first value of the update that is not finite; the finding lists those in reach.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.nn.utils.clip_grad_norm_`.
    """

    code: ClassVar[str] = "OPT420"
    name: ClassVar[str] = "gradient-norm-not-finite"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(r"total norm of order .* for gradients from .* is non-finite")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        graph = evidence.graph
        names, values = graph.get("names") or [], graph.get("values") or []
        seen = f"; not finite: the gradients of {listed(names, graph['count'])}" if names else ""
        seen += (
            f", and the values {', '.join(values)}" if values else "; the values in reach are finite" if names else ""
        )
        nan = evidence.nan or {}
        made = f"; {nan['name']} became NaN first, in line {nan['line']}" if nan.get("name") and nan.get("line") else ""
        yield self.finding(
            f"the gradient of {names[0]} is not finite" if names else "the norm of the gradients is not finite",
            where=at(evidence, nan if made else None),
            seen=f"{evidence.said}{seen}{made}",
            expected="finite gradients",
            help=f"look at where {values[0]} comes from" if values else _FINITE,
            confidence=0.9,
        )


_FINITE = "run once under torch.autograd.set_detect_anomaly(True): it names the operation whose derivative is at fault"
