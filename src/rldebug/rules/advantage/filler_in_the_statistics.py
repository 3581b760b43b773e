"""Advantages of tokens are normalised together with the filler."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.token_rewards import tables
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class FillerInTheStatistics(Rule):
    """Advantages of tokens are normalised together with the filler.

    ## What it checks
    The numbers that tokens are weighted with have, over all places, a mean of nil and a spread of one: they were
    normalised. Over the written tokens alone they have neither.

    ## Why it matters
    The filler after the end of answers shifts the mean and shrinks the spread: most written tokens are pushed the
    same way, more so the more filler there is.

    ## Likely causes
    1. Mean and spread are taken over the whole matrix and not over the mask. Confirm: print the mean over the mask.
    2. The mask is multiplied after the mean was taken. Confirm: the same.

    ## What to try first
    Take mean and spread over the written tokens only.

    ## When it is fine
    Never, where answers differ in length.

    ## References
    Bug kind ADV-11 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ADV375"
    name: ClassVar[str] = "filler-in-the-statistics"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    rounds: int = 1  # of writing and learning
    nil: float = 1e-3  # mean, and distance of the spread from one, over all places
    apart: float = 0.02  # the same over the written tokens

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged, wrong = 0, []
        for table in tables(evidence):
            written = table.written
            if float((~written).mean()) < 0.1 or (table.length < 0).any():
                continue
            judged += 1
            whole = {name: array for name, array in table.round.held if array.ndim == 2 and np.isfinite(array).all()}
            for name, part in table.matrices:
                inside, values = part[written], whole.get(name, part)  # with the places of the prompt
                if abs(float(values.mean())) > self.nil or abs(float(values.std()) - 1) > 0.01:
                    continue
                if abs(float(inside.mean())) > self.apart and abs(float(inside.std()) - 1) > self.apart:
                    wrong.append((table, name, float(inside.mean()), float(inside.std())))
        if judged < self.rounds:
            raise NotEnough(f"{judged} rounds with numbers for each token, needs {self.rounds}")
        if not wrong:
            return
        table, name, mean, spread = wrong[0]
        yield self.finding(
            f"`{name}` is normalised together with the filler after the end of answers",
            where=table.round.passes[0].call.where,
            seen=f"over all places a mean of 0 and a spread of 1, over the written ones {mean:.3g} and {spread:.3g}",
            expected="a mean of 0 and a spread of 1 over the written tokens",
            help="take mean and spread over the mask of written tokens",
            confidence=0.93,
        )
