"""The log-prob of a Gaussian is asked of the action after it was scaled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.scored_draws import scored_draws
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class LogProbOfScaledAction(Rule):
    """The log-prob of a Gaussian is asked of the scaled action.

    ## What it checks
    A number is drawn from a Gaussian, and multiplied by a factor or moved before it is executed. The loss asks that
    same Gaussian for the log-prob of the result, which it never drew. Mean and deviation of each number in the loss say
    which draw it was, and one factor and one offset for each element explain all of them. Exact.

    ## Why it matters
    The score of a Gaussian is that of the number it drew. With another one the gradient is no longer that of the
    return: a scaled action always lies on the same side of its mean, and pulls it there whatever it earns.

    ## Likely causes
    1. The action is stretched to the range of the environment, and the stretched one is stored. Confirm: compare what
       is stored with what `sample()` returned.

    ## What to try first
    Store what was drawn, and scale only what is given to `env.step`.

    ## When it is fine
    Never: the density of the scaled number has another mean and another deviation.

    ## References
    Williams 1992, *Simple Statistical Gradient-Following Algorithms for Connectionist Reinforcement Learning*.
    """

    code: ClassVar[str] = "ACT490"
    name: ClassVar[str] = "log-prob-of-scaled-action"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "drawn"

    rows: int = 64  # numbers whose draw is known
    audits: int = 2  # with such losses
    exact: float = 2e-5  # of the largest number
    apart: float = 0.01  # of the factor from 1, or of the offset from 0, relative to the spread

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = [each for each in scored_draws(evidence) if each.learned]
        count = sum(len(each.value) for each in found)
        if count < self.rows or len({each.audit.number for each in found}) < self.audits:
            raise NotEnough(f"{count} numbers of losses whose draw was seen, needs {self.rows}")
        value, drawn, column = (
            np.concatenate([np.asarray(getattr(each, name)) for each in found]) for name in ("value", "drawn", "column")
        )
        factors: list[float] = []
        changed = False
        for each in np.unique(column):
            x, y = drawn[column == each], value[column == each]
            if len(x) < 16 or float(np.std(x)) < 1e-6 or float(np.std(y)) < 1e-6:
                return
            factor, offset = np.polyfit(x, y, 1)
            if (np.abs(factor * x + offset - y) > self.exact * (1.0 + np.abs(y))).mean() > 0.02:
                return
            factors.append(float(factor))
            changed |= abs(factor - 1.0) > self.apart or abs(offset) > self.apart * float(np.std(x))
        if changed:
            first = next((each for each in found if each.event.get("line")), found[0])
            yield self.finding(
                "the Gaussian is asked for the log-prob of the action after it was scaled",
                where=first.event.where,
                seen=f"{', '.join(f'{each:.3g}' for each in factors[:4])} times what was drawn, in {count} numbers of "
                f"{len(found)} losses",
                expected="the number that was drawn",
                help="store what was drawn, and scale only what is given to env.step",
                confidence=0.96,
            )
