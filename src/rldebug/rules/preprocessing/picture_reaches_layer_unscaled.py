"""The first layer learns from pictures in units of bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.batches import calls_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class PictureReachesLayerUnscaled(Rule):
    """The first layer learns from pictures in units of bytes.

    ## What it checks
    What reaches the first layer beneath a loss, after anything that the network's `forward` does to it: pictures with
    elements from 0 to well above 1, up to 255. Networks with normalisation layers are not judged.

    ## Why it matters
    Weights are initialised for inputs of about 1. With 255 the first outputs, and their gradients, are a hundred times
    too large.

    ## Likely causes
    1. The division by 255 is missing. Confirm: print `x.max()` in the first line of `forward`.
    2. It was done on a copy that is not used. Confirm: the same.

    ## What to try first
    `x = x.float() / 255` in the first line of `forward`.

    ## When it is fine
    A first layer that is initialised for bytes.

    ## References
    Seen in the wild: PRE-04, PRE-09 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "PRE303"
    name: ClassVar[str] = "picture-reaches-layer-unscaled"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    follows: ClassVar[tuple[str, ...]] = ("PRE301",)

    losses: int = 4  # with pictures at the first layer
    bright: float = 60.0  # the brightest element

    def check(self, evidence: Script) -> Iterator[Finding]:
        seen = list(first_pictures(evidence))
        if len(seen) < self.losses:
            raise NotEnough(f"{len(seen)} losses with pictures at the first layer")
        # A scaling that ends in -1 … 1 has negative elements; bytes have none.
        if all(low >= 0 and self.bright <= high <= 255 for _, low, high in seen):
            yield self.finding(
                "the first layer learns from pictures in units of bytes",
                where=seen[0][0].where,
                seen=f"elements up to {max(high for *_, high in seen):.0f} at the first layer, in all of "
                f"{len(seen)} losses",
                expected="elements up to 1",
                help="divide pictures by 255 in the first line of the network's forward",
                confidence=0.8,
            )


def first_pictures(script: Script) -> Iterator[tuple[Event, float, float]]:
    """Smallest and largest element at the first layer beneath each loss, where that is a batch of pictures."""
    normalised = {
        name for name, each in script.modules.items() if any("Norm" in kind for kind in each.get("layers") or {})
    }
    pictures = {
        call.module
        for call in calls_of(script)
        if len(call.event["inputs"][:1] and call.event["inputs"][0]["shape"]) >= 4
    }
    for _, term in script.events("term"):
        given = term.arrays.get("first_input")
        shape = term.get("first_input_shape") or ()
        reached = set(term.get("reached") or ())
        if given is None or len(given) < 2 or len(shape) != 4 or reached & normalised or not reached & pictures:
            continue
        if np.isfinite(given).all():
            yield term, float(given[0]), float(given[1])
