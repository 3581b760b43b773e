"""The value of filler after the end of an answer enters the returns."""

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
class ValuesAfterTheEndCounted(Rule):
    """The value of filler after the end of an answer enters the returns.

    ## What it checks
    Returns, rewards and values of the tokens are found among the numbers of the program by the recursion that they
    obey within an answer. At its last token nothing is to come; here the value of the filler after it is added.

    ## Why it matters
    The critic is asked about places that nobody reaches and that it is never trained on. What it says there is
    added to the return of every token before.

    ## Likely causes
    1. The values are not masked before the recursion. Confirm: print them after the end of an answer.
    2. The recursion does not stop at the end of each row. Confirm: the same.

    ## What to try first
    Multiply the values with the mask before returns are computed.

    ## When it is fine
    Answers that were cut off may be continued by a value; only those that ended are counted.

    ## References
    Bug kind ADV-11 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ADV376"
    name: ClassVar[str] = "values-after-the-end-counted"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    answers: int = 8  # that ended

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged, wrong = 0, []
        for table in tables(evidence):
            fit = table.returns
            rows = np.flatnonzero(table.ended & (table.length > 0) & (table.length < table.logp.shape[1]))
            if fit is None or len(rows) < self.answers:
                continue
            last = table.length[rows] - 1
            over = fit.returns[rows, last] - fit.rewards[rows, last]
            spread = float(fit.returns[table.written].std())
            leak = fit.value_factor * fit.values[rows, last + 1] + fit.returns_factor * fit.returns[rows, last + 1]
            judged += 1
            plain = (fit.value_factor + fit.returns_factor) * fit.values[rows, last + 1]
            for guess in (leak, plain):
                if np.abs(over - guess).max() < 1e-3 * spread and float(np.abs(over).mean()) > 0.01 * spread:
                    wrong.append((table, fit, float(np.abs(over).mean())))
                    break
        if not judged:
            raise NotEnough("no returns of tokens were found that obey a recursion")
        if not wrong:
            return
        table, fit, size = wrong[0]
        yield self.finding(
            f"`{fit.names[0]}` counts `{fit.names[2]}` of the filler after the end of answers",
            where=table.round.passes[0].call.where,
            seen=f"{size:.3g} on average is added to the reward of the last token",
            expected="the reward alone at the token that ends an answer",
            help="multiply the values with the mask of written tokens before returns are computed",
            confidence=0.93,
        )
