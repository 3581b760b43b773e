"""The value of a token is learned at another place than its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.token_critic import told, told_of_another_place
from rldebug.forensics.tokens import rounds, written_places
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ValueOfAnotherPlace(Rule):
    """The value of a token is learned at another place than its own.

    ## What it checks
    A language model that also says a value for each place wrote sequences and learns from them. The gradient of the
    loss at its values is not at the places that chose the written tokens, but one further on, or one before.

    ## Why it matters
    The value after a token is learned as if it was the one before it: the baseline knows the choice it is to be
    compared with.

    ## Likely causes
    1. Values are cut differently from scores: `values[:, P:]` beside `logits[:, P-1:-1]`. Confirm: both slices must
       be the same.
    2. They are cut differently when returns are made and when they are learned. Confirm: the same.

    ## What to try first
    Cut values and scores by the same slice.

    ## When it is fine
    Values of states that are counted after the token are a baseline only for the token that comes next.

    ## References
    Bug kind VAL-08 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "VAL385"
    name: ClassVar[str] = "value-of-another-place"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    follows: ClassVar[tuple[str, ...]] = ("POL380",)

    passes: int = 2  # that learn from what was written

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged, wrong = 0, []
        for each in (one for found in rounds(evidence) for one in found.valued):
            pushed = np.abs(each.gradient.arrays["gradient"]) > 0
            if pushed.shape != each.ids.shape:
                continue
            places = written_places(each)
            rows = pushed.any(axis=1) & (each.length >= 2) & (each.rows >= 0)
            if rows.sum() < 8:
                continue
            judged += 1
            # The places that chose the first token, and behind the last.
            first, end = each.start - 1, each.start + each.length
            at_first = pushed[rows, first]
            behind = pushed[rows, np.minimum(end[rows] - 1, each.ids.shape[1] - 1)]
            # A row whose first token is the filler may be taken for one that begins later.
            if at_first.mean() < 0.1 and behind.mean() > 0.9 and (pushed & places["written"])[rows].any():
                wrong.append((each, 1))
            elif first > 0 and pushed[rows, first - 1].all() and not pushed[rows, end[rows] - 2].any():
                wrong.append((each, -1))
        targets = [(each.critic, told_of_another_place(each)) for each in told(evidence)]
        moved = [each for each in targets if each[1]]
        if len(moved) >= max(self.passes, 0.6 * len(targets)):
            each, shift = moved[0]
            yield self.finding(
                "the targets of the critic hold the value of the place " + ("after" if shift > 0 else "before"),
                where=each.call.where,
                seen=f"advantage plus the value one place {'further on' if shift > 0 else 'before'}, exactly, in "
                f"{len(moved)} of {len(targets)} rounds",
                expected="advantage plus the value at the place whose scores chose the token",
                help="cut the values that returns are made of by the same slice as those that are learned",
                confidence=0.92,
            )
            return
        if judged < self.passes:
            raise NotEnough(f"{judged} passes with a value for each place, needs {self.passes}")
        if len(wrong) < max(self.passes, 0.9 * judged):
            return
        each, shift = wrong[0]
        yield self.finding(
            "the value of a token is learned one place " + ("too late" if shift > 0 else "too early"),
            where=each.call.where,
            seen=f"no gradient at the place that chose the first token, in {len(wrong)} of {judged} passes",
            expected="values at the places whose scores chose the tokens",
            help="cut values and scores by the same slice",
            confidence=0.92,
        )
