"""The critic learns the values of tokens that were not written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.tokens import rounds, written_places
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ValueOfUnwrittenLearned(Rule):
    """The critic learns the values of tokens that were not written.

    ## What it checks
    A critic says a value for each place of sequences. The gradient of the loss at its values is not only at the places
    that chose the written tokens, but also at filler after their end, or in the prompt.

    ## Why it matters
    The targets at these places mean nothing. They pull the critic off, the more the shorter the answers are, and the
    loss of the written tokens counts for less.

    ## Likely causes
    1. The loss of the critic is averaged without the mask that the policy has. Confirm: compare the two lines.
    2. The mask is that of the attention: it holds the prompt as well. Confirm: print a row of tokens over its mask.

    ## What to try first
    Multiply the squared errors with the mask of written tokens and divide by its sum.

    ## When it is fine
    A critic may learn the value of the prompt's last place only: that one chooses the first token and is counted as
    written.

    ## References
    Bug kind VAL-08 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "VAL386"
    name: ClassVar[str] = "value-of-unwritten-learned"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    follows: ClassVar[tuple[str, ...]] = ("POL384", "VAL385")

    places: int = 32  # of filler, or of prompts
    share: float = 0.5  # of them that are learned
    force: float = 0.02  # of that at a written place

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged = {"filler": 0, "prompt": 0}
        learned = dict(judged)
        where = None
        for each in (one for found in rounds(evidence) for one in found.valued):
            size = np.abs(each.gradient.arrays["gradient"])
            if size.shape != each.ids.shape:
                continue
            places = written_places(each)
            usual = float(size[places["written"]].mean()) if places["written"].any() else 0.0
            pushed = size > max(self.force * usual, 1e-12)
            where = where or each.call.where
            for kind in judged:
                asked = places[kind]
                if kind == "filler":  # the value right after the end is learned as 0 by some
                    asked = asked & np.pad(asked[:, :-1], ((0, 0), (1, 0)))
                judged[kind] += int(asked.sum())
                learned[kind] += int((pushed & asked).sum())
        if max(judged.values()) < self.places or where is None:
            raise NotEnough(f"{max(judged.values())} places that were not written, needs {self.places}")
        for kind, name in (("filler", "filler after the end of answers"), ("prompt", "tokens of the prompt")):
            if judged[kind] >= self.places and learned[kind] >= self.share * judged[kind]:
                yield self.finding(
                    f"the critic learns the values of {name}",
                    where=where,
                    seen=f"a gradient at {learned[kind]} of {judged[kind]} such places",
                    expected="a gradient only at the places that chose a written token",
                    help="multiply the squared errors with the mask of written tokens, and divide by its sum",
                    confidence=0.88,
                )
                return
