"""Raw pixels reach the network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ImageNotScaled(Rule):
    """Byte-valued observations reach the network unscaled.

    ## What it checks
    The observations handed over are whole numbers from 0 to at most 255, as raw pixels are, and the first layer of the
    network puts out numbers as large as they are: nothing divides by 255 in between.

    ## Why it matters
    A first layer initialised for inputs of about 1 puts out numbers in the hundreds on raw pixels: units saturate or
    die, and the learning rate is far too high for that layer.

    ## Likely causes
    1. The division by 255 was forgotten. Confirm: print the largest entry of the first layer's input.
    2. It is done in one place and not in the other: while acting and not while learning, or the other way round.
       Confirm: compare the inputs at both places.
    3. A cast to bytes comes after the scaling. Confirm: look for `uint8` after the division.

    ## What to try first
    Divide by 255 in the first line of the network's `forward`.

    ## When it is fine
    The network begins with a normalisation layer, or its first layer is initialised for bytes.

    ## References
    Huang et al., *The 37 Implementation Details of Proximal Policy Optimization* (scaling images to [0, 1]).
    """

    code: ClassVar[str] = "PRE001"
    name: ClassVar[str] = "image-not-scaled"
    severity: ClassVar[Severity] = "note"
    needs: ClassVar[tuple[str, ...]] = ("obs/min", "obs/max", "obs/std", "obs/mean", "obs/integers")

    bright: float = 100.0  # the largest entry of a byte image
    passed_on: float = 0.1  # size of the first layer's output over that of the observations; 1/255 of it if scaled

    def check(self, evidence: Run) -> Iterator[Finding]:
        low, high = evidence["obs/min"].min(), evidence["obs/max"].max()
        if not (low >= 0 and self.bright < high <= 255 and evidence["obs/integers"].min() == 1):
            return
        tables = [(reading, table) for reading, table in evidence.table("layers") if table]
        if not tables:
            raise NotEnough("what the first layer puts out was not seen")
        size = float(np.hypot(evidence["obs/mean"].median(), evidence["obs/std"].median()))
        # Rows are in the order in which layers ran; mean and standard deviation are the first columns.
        names = [next(iter(table)) for _, table in tables]
        columns = [next(iter(table.values())) for _, table in tables]
        outputs = [float(np.hypot(mean, std)) for mean, std, *_ in columns]
        if not np.median(outputs) > self.passed_on * size:
            return
        yield self.finding(
            "raw bytes reach the network",
            where=replace(evidence.call("rollout"), update=tables[0][0].update, env_step=tables[0][0].env_step),
            seen=f"observations are whole numbers from {low:.0f} to {high:.0f}; {names[0]} puts out numbers of size "
            f"{np.median(outputs):.3g}",
            expected=f"numbers of size {np.median(outputs) / 255:.2g} there, after a division by 255",
            help="divide observations by 255 in the first line of the network's forward",
            confidence=0.7,
        )
