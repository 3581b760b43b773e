"""What the environment returned is None."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.bound import Bound, bound
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class EnvironmentReturnsNothing(Rule):
    """What the environment returned is None.

    ## What it checks
    A value that `reset()` or `step()` gave is None where it is used.

    ## Why it matters
    A method without `return` returns None.

    ## Likely causes
    1. `reset()` of the environment, or of a wrapper, has no `return`. Confirm: print what it gives.
    2. The next observation is None at the end of an episode. Confirm: the error comes at the end of one.

    ## What to try first
    Return `obs, info` from `reset()`, also in each wrapper.

    ## When it is fine
    Never: the program has ended.

    ## References
    Gymnasium, `Env.reset`.
    """

    code: ClassVar[str] = "ENV454"
    name: ClassVar[str] = "environment-returns-nothing"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return _none(evidence) is not None

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        name, origin = _none(evidence) or ("it", None)
        method = "step" if origin and ".step(" in origin.text else "reset"
        envs = [fact["type"] for _, _, fact in evidence.held("environment")]
        yield self.finding(
            f"{name} is None: {method}() of {envs[0] if envs else 'the environment'} returned nothing for it",
            where=evidence.where,
            seen=f"{evidence.said}{f'; made in {origin.place} by `{origin.text}`' if origin else ''}",
            expected="an observation",
            help=f"write the return of {method}(), in the environment and in every wrapper around it",
            confidence=0.9,
        )


def _none(evidence: Crash) -> tuple[str, Bound] | None:
    """A name in the line that is None and was made by reset() or step()."""
    if not evidence.says("'NoneType' object (has no attribute|is not subscriptable|is not iterable)"):
        return None
    for name, fact in evidence.operands().items():
        if fact["kind"] == "number" and fact["type"] == "NoneType":
            origin = bound(evidence, evidence.at, name)
            if origin is not None and (".reset(" in origin.text or ".step(" in origin.text):
                return name, origin
    return None
