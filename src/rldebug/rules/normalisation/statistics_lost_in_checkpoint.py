"""Loading a checkpoint changes how observations are normalised."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.inputs import inputs_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class StatisticsLostInCheckpoint(Rule):
    """Loading a checkpoint changes how observations are normalised.

    ## What it checks
    How observations become inputs of the network, per element a factor and a shift, before and after weights were
    loaded from a file in the middle of training. The factors jump: the statistics began anew, while the weights
    were kept.

    ## Why it matters
    The weights were trained for inputs of another scale. The policy acts on noise until the statistics have
    settled, and unlearns in the meantime.

    ## Likely causes
    1. The running mean and variance are not in the file. Confirm: look at its keys.
    2. They are there and are not loaded. Confirm: print the count after loading.

    ## What to try first
    Save mean, variance and count of the normaliser with the weights, and load them together.

    ## When it is fine
    Never, where weights are kept.

    ## References
    Bug kind CKP-05 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "NRM360"
    name: ClassVar[str] = "statistics-lost-in-checkpoint"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    follows: ClassVar[tuple[str, ...]] = ("NRM304",)

    jump: float = 1.6  # factor between the two scales, in the middle of all elements
    steady: float = 1.25  # between two audits right before it

    def check(self, evidence: Script) -> Iterator[Finding]:
        notes = [each for each in evidence.noted("restored") if each.get("file") and each.get("module")]
        loads = sorted({int(each["update"]) for each in notes if each.get("update")})
        maps = sorted(
            (each for each in inputs_of(evidence) if each.use == "acting"), key=lambda each: each.audit.update
        )
        pairs = list(pairwise(maps))
        if not loads or not pairs:
            raise NotEnough("no weights were loaded between two looks at how observations become inputs")
        judged, jumps = 0, []
        steps: list[float] = []  # from audit to audit, since the last load
        for before, now in pairs:
            both = before.fitted & now.fitted if before.slope.shape == now.slope.shape else np.zeros(0, dtype=bool)
            if not both.any() or before.audit.update == 0:
                continue
            apart = float(np.exp(np.median(np.abs(np.log(np.abs(now.slope[both] / before.slope[both]))))))
            if not any(before.audit.update < each <= now.audit.update for each in loads):
                steps.append(apart)
                continue
            # Statistics that begin anew move much at first: only what they did right before the load counts.
            if apart > self.jump and steps and max(steps[-2:]) <= self.steady:
                jumps.append((before, now, apart))
                judged += 1
            else:
                judged += now.audit.update in loads  # later they may have settled again
            steps = []
        if not judged:
            raise NotEnough("no weights were loaded between two looks at how observations become inputs")
        if not jumps or len(jumps) < 0.7 * judged:
            return
        before, now, apart = jumps[0]
        yield self.finding(
            "after loading, observations are normalised by other statistics than before",
            where=now.event.where,
            seen=f"inputs are scaled by another {apart:.2g} times after the weights were loaded, at update "
            f"{now.audit.update}",
            expected="the statistics that the weights were trained with",
            help="save mean, variance and count of the normaliser in the checkpoint, and load them with the weights",
            confidence=0.9,
        )
