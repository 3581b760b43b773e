"""The network gives NaN, and a distribution refuses it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import nan_mended, nan_told, refused_parameter
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class NetworkOutputsNan(Rule):
    """The network gives NaN, and a distribution refuses it.

    ## What it checks
    A distribution was made of NaN. Either the weights are NaN already after a few updates, or they are not and the
    network computes NaN.

    ## Why it matters
    Once a weight is NaN every output is.

    ## Likely causes
    1. The loss of the first updates is NaN: a logarithm of a number that is not positive, a division by a standard
       deviation of 0 or of one sample, 0 times infinity. Confirm: run under `torch.autograd.set_detect_anomaly(True)`;
       it names the line.
    2. The correction of a squashed action takes the logarithm of a negative number. Confirm: print the smallest
       argument of that logarithm.
    3. Observations hold NaN or very large numbers. Confirm: print their greatest absolute value.

    ## What to try first
    Check the loss for NaN before each `backward()`, and look at the terms of the first that is.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.autograd.set_detect_anomaly`; `torch.distributions`, validation of arguments.
    """

    code: ClassVar[str] = "NET405"
    name: ClassVar[str] = "network-outputs-nan"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"
    follows: ClassVar[tuple[str, ...]] = (
        "ADV006",
        "ADV401",
        "DIS009",
        "ENV001",
        "ENV002",
        "ENV015",
        "GRA001",
        "NET001",
        "NET002",
        "POL011",
    )

    def concerns(self, evidence: Crash) -> bool:
        return refused_parameter(evidence) == "network"

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        broken = [
            f"{fact['nonfinite']} of {fact['tensors']} weights of {fact['type']} are NaN"
            for _, _, fact in evidence.held("network")
            if fact.get("nonfinite")
        ]
        made = evidence.nan
        data = made is not None and not broken and not made["network"] and not made["value"].get("ops")
        yield self.finding(
            f"{made['name']} is NaN" if made and data else "the network gives NaN",
            where=evidence.where,
            seen=f"{evidence.said}{f'; {broken[0]}' if broken else ''}{nan_told(evidence)}",
            expected="finite numbers",
            help=nan_mended(evidence)
            or "check each term of the loss for NaN before backward(): the first that is holds the mistake",
            confidence=0.5,
        )
