"""The value of filler after the end of an answer enters the returns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.token_critic import Credit, recursion, told
from rldebug.forensics.token_rewards import Table, tables
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
    follows: ClassVar[tuple[str, ...]] = ("ADV374", "POL385")

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
        scored = [made for table in tables(evidence) if (made := _beside_scores(table, evidence)) is not None]
        leaking = [each for each in scored if each[1] > 0]
        if not wrong and leaking and len(leaking) >= 0.8 * len(scored):
            credit, size, name = leaking[0]
            yield self.finding(
                "what lies behind the end of answers is counted at their last token",
                where=credit.told.critic.call.where,
                seen=f"{size:.3g} on average beside `{name}` at the last token of answers that ended, in what the "
                "critic learns; those that were cut off get their score alone",
                expected="the reward alone at the token that ends an answer",
                help="multiply the values with the mask of written tokens before returns are computed",
                confidence=0.9,
            )
            return
        if not judged and not scored:
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


def _beside_scores(table: Table, evidence: Script) -> tuple[Credit, float, str] | None:
    """What the last token of answers that ended early is given beside the score, which others get exactly; on average,
    0 where it is nothing."""
    fit = next((made for each in told(evidence) if each.round is table.round and (made := recursion(each))), None)
    if fit is None:
        return None
    policy, rows = fit.told.policy, np.arange(len(fit.rewards))
    last = fit.rewards[rows, policy.length - 1]
    if fit.told.divergence is not None and fit.penalty is not None:
        last = last - fit.penalty * fit.told.divergence[rows, policy.length - 1]
    for name, scores in table.vectors:
        own = scores[policy.rows]
        close = np.abs(last - own) < 1e-3 * max(float(own.std()), 1e-6)
        if own.std() > 0 and (~policy.ended).sum() >= 3 and policy.ended.sum() >= 3 and close[~policy.ended].all():
            over = close[policy.ended]
            return fit, 0.0 if over.mean() > 0.5 else float(np.abs(last - own)[policy.ended].mean()), name
    return None
