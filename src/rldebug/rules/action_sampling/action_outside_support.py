"""The log-prob of an action is asked for that cannot be drawn."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ActionOutsideSupport(Rule):
    """The log-prob of an action is asked for that cannot be drawn.

    ## What it checks
    `log_prob` refused its argument: it lies outside of the support of the distribution.

    ## Why it matters
    The action that is learned from is not the one that was drawn.

    ## Likely causes
    1. The action was scaled, clipped or rounded for the environment, and that one was stored. Confirm: compare it with
       what the policy gave.
    2. Actions come out of the buffer in another dtype, shape or order. Confirm: print one beside its distribution.
    3. A squashed action lies at ±1 exactly. Confirm: print its greatest absolute value.

    ## What to try first
    Store the action as the policy drew it, and change only the copy that the environment gets.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `Distribution.support`.
    """

    code: ClassVar[str] = "ACT402"
    name: ClassVar[str] = "action-outside-support"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            "(?s)Expected value argument .* to be within the support", "The value argument must be within the support"
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        expected, help = _support(evidence)
        yield self.finding(
            "the log-prob of an impossible action was asked for",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected=expected,
            help=help,
            confidence=0.9,
        )


def _support(crash: Crash) -> tuple[str, str]:
    """Which actions there are, and how to come by one."""
    found = re.search(r"(Integer)?Interval\(lower_bound=([-\d.]+), upper_bound=([-\d.]+)\)", crash.message)
    help = "store the action as the policy drew it, and scale or clip only what env.step gets"
    if found is None:
        return "the action as it was drawn from this distribution", help
    whole, low, high = found.groups()
    if whole:
        help += f"; this distribution takes whole numbers from {low} to {high}"
    elif float(low) == -float(high):
        help += f"; a squashed action at its limit is clamped to ±({high} - 1e-6)"
    else:
        help += f"; this distribution takes numbers from {low} to {high}"
    return f"{'whole numbers' if whole else 'numbers'} from {low} to {high}", help
