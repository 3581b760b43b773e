"""Pictures are divided by 255 twice before they reach the first layer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.roles import roles_of
from rldebug.rule import NotEnough, Rule
from rldebug.rules.preprocessing.picture_reaches_layer_unscaled import first_pictures


@dataclass(frozen=True, kw_only=True)
class PictureDividedTwice(Rule):
    """Pictures are divided by 255 twice.

    ## What it checks
    Observations are bytes with bright elements, and what reaches the first layer beneath a loss is never above a
    hundredth: a division by 255 was done twice. Or observations come scaled to numbers between 0 and 1 already, and
    reach the first layer divided by 255.

    ## Why it matters
    The network sees almost nothing but its own biases, and learns as if pictures were black.

    ## Likely causes
    1. A wrapper, or the caller, scales pictures, and the network's `forward` does it again. Confirm: print `x.max()`
       before and after the first line of `forward`.

    ## What to try first
    Scale in one place only: in `forward`.

    ## When it is fine
    Nothing that is known of.

    ## References
    Seen in the wild: PRE-04 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "PRE304"
    name: ClassVar[str] = "picture-divided-twice"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    losses: int = 4  # with pictures at the first layer
    dark: float = 0.01  # the brightest element there, of bytes; 1/255 after two divisions
    bright: float = 25.0  # the brightest element of observations: dark pictures would be as dark after one division

    def check(self, evidence: Script) -> Iterator[Finding]:
        stream = roles_of(evidence).stream
        thing = evidence.streams[stream] if stream is not None and stream < len(evidence.streams) else {}
        obs = thing.get("obs") or {}
        bytes_in_parts = obs.get("wide") and self._in_parts(evidence)
        dark = self._dark("uint8" if bytes_in_parts else str(thing.get("dtype")), obs) if obs.get("wide") else 0.0
        if not dark:
            return
        seen = list(first_pictures(evidence))
        if len(seen) < self.losses:
            raise NotEnough(f"{len(seen)} losses with pictures at the first layer")
        if all(low >= 0 and 0 < high <= dark for _, low, high in seen):
            yield self.finding(
                "pictures are divided by 255 twice",
                where=seen[0][0].where,
                seen=f"elements up to {max(high for *_, high in seen):.2g} at the first layer, in all of "
                f"{len(seen)} losses",
                expected="elements up to 1",
                help="divide by 255 in one place only",
                confidence=0.95,
            )

    def _in_parts(self, script: Script) -> bool:
        """Whether observations are of two parts, of which one is a picture in bytes, and the other holds no number as
        large: what is bright must be in the picture."""
        found = False
        for _, event in script.events("call"):
            if event["match"] != "parts" or len(event["inputs"]) != 2:
                continue
            narrow = event.arrays.get("narrow")
            kinds = {(str(each["dtype"]), len(each["shape"])) for each in event["inputs"]}
            if ("torch.uint8", 4) not in kinds or narrow is None or not (np.abs(narrow) < self.bright).all():
                return False
            found = True
        return found

    def _dark(self, dtype: str, obs: Mapping[str, Any]) -> float:
        """How bright an element of the first layer's input is at most after one division too many; 0: not known."""
        if dtype == "uint8":
            return self.dark if obs["mean"][1] >= self.bright else 0.0
        lowest, highest = obs["low"][0], obs["high"][1]
        scaled = dtype.startswith("float") and lowest >= 0 and self.bright / 255 <= highest <= 1
        return 1.1 * highest / 255 if scaled else 0.0
