"""What reset() returns is used as if it were the observation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.bound import bound
from rldebug.evidence.crashes.lines import at_origin
from rldebug.evidence.crashes.signs import operands_told, reset_kept_whole
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ResetNotUnpacked(Rule):
    """What reset() returns is used as if it were the observation.

    ## What it checks
    Something of two parts, the second a dict, was used where an observation is expected.

    ## Why it matters
    Since Gym 0.26 `reset()` returns the observation and an info dict.

    ## Likely causes
    1. `obs = env.reset()` is code for the older API. Confirm: print the type of `obs`.

    ## What to try first
    Write `obs, info = env.reset()`.

    ## When it is fine
    Never: the program has ended.

    ## References
    Gymnasium, `Env.step` and `Env.reset`.
    """

    code: ClassVar[str] = "ENV403"
    name: ClassVar[str] = "reset-not-unpacked"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        fed = evidence.says(
            r"argument 'input' .*must be Tensor, not tuple",
            r"expected np.ndarray \(got tuple\)",
            "Could not infer dtype of dict",
            "inhomogeneous shape",
            "expected sequence of length",
            "setting an array element with a sequence",
            r"got \(tuple",
            "'tuple' object has no attribute",
            "can't multiply sequence",
            "must be real number, not dict",
            "not 'dict'",
            "unsupported operand type.*'tuple'",
        )
        mixed = evidence.says(r"passed a tuple to the predict\(\) function")  # Stable-Baselines3
        return mixed or (fed and reset_kept_whole(evidence))

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        pairs = [name for name, fact in evidence.operands().items() if fact.get("type") == "tuple"]
        origin = bound(evidence, evidence.at, pairs[0]) if pairs else None
        came = f", made in {origin.place} by `{origin.text}`" if origin else ""
        yield self.finding(
            "what reset() returns was used as the observation",
            where=at_origin(evidence, origin),
            seen=f"{evidence.said}{operands_told(evidence)}{came}",
            expected="the first of the two that reset() returns",
            help=f"write {pairs[0] if pairs else 'obs'}, info = env.reset()",
            confidence=0.9,
        )
