"""A checkpoint does not fit the network it is loaded into."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class StateDictDiffers(Rule):
    """A checkpoint does not fit the network it is loaded into.

    ## What it checks
    `load_state_dict` refused: keys are missing or unexpected, or sizes differ.

    ## Why it matters
    The network that was saved is not the one that was made.

    ## Likely causes
    1. The network was changed, or made with other settings. Confirm: compare the names and sizes in the message.
    2. It was saved from a compiled or distributed module, whose names begin with `_orig_mod.` or `module.`. Confirm:
       look for them.
    3. A checkpoint of another network, as the critic's for the policy. Confirm: print the keys.

    ## What to try first
    Print the keys and shapes of both.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Saving and loading models*.
    """

    code: ClassVar[str] = "CKP401"
    name: ClassVar[str] = "state-dict-differs"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            r"Error\(s\) in loading state_dict",
            "loaded state dict (contains|has)",
            "state_dict.*(size mismatch|Missing key)",
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "a checkpoint does not fit what it is loaded into",
            where=evidence.where,
            seen=evidence.said,
            expected="the same names and sizes",
            help="print the keys and shapes of both; strip module. and _orig_mod. from the names",
            confidence=0.95,
        )
