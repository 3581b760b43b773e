"""Tokens that turned out better than expected are made less likely."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.token_advantages import Weighted, weighted
from rldebug.forensics.token_rewards import Table, pushes, scores_at_the_end, tables
from rldebug.forensics.tokens import Pass
from rldebug.rule import NotEnough, Rule

_REWARD = re.compile(r"reward|score|return|adv", re.IGNORECASE)  # which of two opposite numbers is the good one


@dataclass(frozen=True, kw_only=True)
class TokensPushedAgainstAdvantage(Rule):
    """Tokens that turned out better than expected are made less likely.

    ## What it checks
    Returns and values of the tokens are found among the numbers of the program by the recursion that they obey.
    What each log-prob is multiplied with in the loss is read off its gradient. The two are opposed: the greater the
    return beside the value, the more the token is pushed down. Where no recursion is found, the rewards that are still
    to come take the place of the return. Where answers have one weight each, it falls, exactly, as the program's own
    reward of the answer rises within its group, and that reward does not grow.

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
            for each in table.round.passes:
                found = _against(table, each, self.tokens)
                judged += found is not None
                if found is not None and found[1] < self.against:
                    wrong.append((each, *found))
        answers = list(_answers(evidence))
        if not judged and not answers:
            raise NotEnough("no returns of tokens were found that obey a recursion, and no rewards of whole answers")
        if judged and len(wrong) >= 0.9 * judged:
            each, name, related = wrong[0]
            yield self.finding(
                "tokens that turned out better than expected are made less likely",
                where=each.call.where,
                seen=f"a correlation of {related:.2f} between the push and {name}",
                expected="tokens with a return above their value are made more likely",
                help="minimise minus the surrogate, with the return minus the value as advantage",
                confidence=0.93,
            )
        elif answers and all(each[2] for each in answers) and _stays(answers):
            one, name, _, _ = answers[0]
            yield self.finding(
                "the better an answer is beside the others to its prompt, the less likely it is made",
                where=one.passes[0].call.where,
                seen=f"the weight falls, exactly, as `{name}` rises, in {len(answers)} rounds",
                expected="a weight that rises with the reward",
                help="minimise minus the advantage times the log-prob",
                confidence=0.9,
            )


def _against(table: Table, each: Pass, tokens: int) -> tuple[str, float] | None:
    """What the pushes of a pass are compared with, and how they go together."""
    fit = table.returns
    rows, pushed = pushes(each, table.logp.shape[1])
    if fit is not None:
        name, better = f"`{fit.names[0]}` - `{fit.names[2]}`", (fit.returns - fit.values)[rows]
    else:
        rewards = scores_at_the_end(table)
        if rewards is None:
            return None
        inside = np.where(table.written, rewards[1], 0.0)
        name = f"`{rewards[0]}` from there on"
        better = np.where(table.written, inside[:, ::-1].cumsum(axis=1)[:, ::-1], np.nan)[rows]
    keep = np.isfinite(pushed) & np.isfinite(better)
    if not each.at_once or keep.sum() < tokens or min(better[keep].std(), pushed[keep].std()) == 0:
        return None
    return name, float(np.corrcoef(pushed[keep], better[keep])[0, 1])


def _answers(evidence: Script) -> Iterator[tuple[Weighted, str, bool, float]]:
    """Rounds in which the weight is an exact function of a reward: its name, whether it falls as that rises, and rises
    with nothing else that the program holds, and the mean reward."""
    for each in weighted(evidence):
        slopes = {name: slope for name, values in each.others if (slope := _slope(each, values)) is not None}
        name = next((name for name in slopes if _REWARD.search(name)), None)
        if name is not None:
            yield each, name, max(slopes.values()) < 0, float(dict(each.others)[name].mean())


def _slope(each: Weighted, values: NDArray[np.float64]) -> float | None:
    """Of the weight over these numbers within groups, where it is a straight line in all of them."""
    slopes = []
    for one in np.unique(each.groups):
        x, y = values[each.groups == one], each.advantage[each.groups == one]
        if len(x) >= 3 and len(np.unique(np.round(x, 9))) >= 3:
            slope, rest = np.polyfit(x, y, 1)
            slopes.append(slope if np.abs(slope * x + rest - y).max() < 1e-3 * float(np.ptp(y)) else np.nan)
    known = len(slopes) >= 3 and bool(np.isfinite(slopes).all()) and len(set(np.sign(slopes))) == 1
    return float(slopes[0]) if known else None


def _stays(answers: list[tuple[Weighted, str, bool, float]]) -> bool:
    """The reward does not grow: what is called one may be a cost."""
    means = [each[3] for each in answers]
    spread = float(np.mean([dict(each[0].others)[each[1]].std() for each in answers]))
    half = max(1, len(means) // 2)
    return len(means) >= 3 and float(np.mean(means[-half:])) < float(np.mean(means[:half])) + 0.1 * spread
