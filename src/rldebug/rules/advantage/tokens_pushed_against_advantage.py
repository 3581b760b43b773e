"""Tokens that turned out better than expected are made less likely."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.token_rewards import pushes, tables
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TokensPushedAgainstAdvantage(Rule):
    """Tokens that turned out better than expected are made less likely.

    ## What it checks
    Returns and values of the tokens are found among the numbers of the program by the recursion that they obey.
    What each log-prob is multiplied with in the loss is read off its gradient. The two are opposed: the greater the
    return beside the value, the more the token is pushed down.

    ## Why it matters
    The policy learns to do worse.

    ## Likely causes
    1. The sign of the loss is wrong, or the advantage is value minus return. Confirm: one token with a return above
       its value must get a negative gradient of the loss.

    ## What to try first
    Minimise minus the surrogate, with the return minus the value as advantage.

    ## When it is fine
    Never.

    ## References
    Bug kind ADV-01 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ADV377"
    name: ClassVar[str] = "tokens-pushed-against-advantage"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    tokens: int = 60  # of one pass
    against: float = -0.5  # correlation of push and advantage

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged, wrong = 0, []
        for table in tables(evidence):
            fit = table.returns
            if fit is None:
                continue
            for each in table.round.passes:
                rows, pushed = pushes(each, table.logp.shape[1])
                better = (fit.returns - fit.values)[rows]
                keep = np.isfinite(pushed) & np.isfinite(better)
                if not each.at_once or keep.sum() < self.tokens or min(better[keep].std(), pushed[keep].std()) == 0:
                    continue
                judged += 1
                related = float(np.corrcoef(pushed[keep], better[keep])[0, 1])
                if related < self.against:
                    wrong.append((each, fit, related))
        if not judged:
            raise NotEnough("no returns of tokens were found that obey a recursion")
        if len(wrong) < 0.9 * judged:
            return
        each, fit, related = wrong[0]
        yield self.finding(
            "tokens that turned out better than expected are made less likely",
            where=each.call.where,
            seen=f"a correlation of {related:.2f} between the push and `{fit.names[0]}` - `{fit.names[2]}`",
            expected="tokens with a return above their value are made more likely",
            help="minimise minus the surrogate, with the return minus the value as advantage",
            confidence=0.93,
        )
