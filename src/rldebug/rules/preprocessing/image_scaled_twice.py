"""Images are divided by 255 twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_contract import EnvContract
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ImageScaledTwice(Rule):
    """Images are divided by 255 twice.

    ## What it checks
    Float images whose values are all multiples of 1 / 255², and none above 1 / 255: bytes that were divided by 255, and
    divided by 255 again.

    ## Why it matters
    The network sees numbers of at most 0.004: black. Its first layer learns a hundred times slower than the others.

    ## Likely causes
    1. A wrapper scales, and so does the one outside of it, or the environment itself. Confirm: print the largest value
       at each layer.
    2. The network expects bytes and scales too: then it is three times. Confirm: look for 255 in the network.

    ## What to try first
    Take one of the two divisions out.

    ## When it is fine
    Never.

    ## References
    Stable-Baselines, changelog 1.0.7 and 2.0.0.
    """

    code: ClassVar[str] = "PRE005"
    name: ClassVar[str] = "image-scaled-twice"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "EnvContract"

    def check(self, evidence: EnvContract) -> Iterator[Finding]:
        if evidence.pixel_levels is None:
            return
        yield self.finding(
            "images are divided by 255 twice",
            where=evidence.where,
            seen=f"all pixels are multiples of 1 / 255², the largest is {evidence.pixel_levels:.4g}",
            expected="numbers from 0 to 1, or bytes from 0 to 255",
            help="take out one of the two divisions by 255",
            confidence=0.9,
        )
