"""A checkpoint holds objects, and only weights are read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class CheckpointHoldsMoreThanWeights(Rule):
    """A checkpoint holds objects, and only weights are read.

    ## What it checks
    `torch.load` refused a file because it holds something else than tensors and plain numbers, texts, lists and dicts.

    ## Why it matters
    Since PyTorch 2.6 `torch.load` reads only weights unless told otherwise: a file with objects can run any code.

    ## Likely causes
    1. A whole network, agent, buffer or settings object was saved. Confirm: the message names its class.
    2. A number of NumPy, as the best return, is among what was saved. Confirm: the message names `numpy`.

    ## What to try first
    Save `state_dict()`s and plain numbers: `float(best_return)`. To read an old file of your own, give
    `weights_only=False`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.load`: `weights_only`.
    """

    code: ClassVar[str] = "CKP441"
    name: ClassVar[str] = "checkpoint-holds-more-than-weights"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says("Weights only load failed")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        found = re.search(r"Unsupported (?:global|class)[^:]*: (?:GLOBAL )?([\w.]+)", evidence.message)
        held = found[1] if found else "something that is no tensor"
        number = held.startswith("numpy.")
        yield self.finding(
            f"the checkpoint holds {held}, and torch.load reads only weights",
            where=evidence.where,
            seen=f"torch.load(weights_only=True), the default since PyTorch 2.6, does not read {held}",
            expected="tensors, numbers, texts, lists and dicts",
            help=f"save {'float(x) rather than a number of NumPy' if number else 'state_dict()s rather than objects'}; "
            "to read this file, if you trust it: torch.load(…, weights_only=False)",
            confidence=0.95,
        )
