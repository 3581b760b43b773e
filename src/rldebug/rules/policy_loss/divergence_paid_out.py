"""Tokens are rewarded for leaving the reference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.token_critic import recursion, told
from rldebug.forensics.token_rewards import tables
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class DivergencePaidOut(Rule):
    """Tokens are rewarded for leaving the reference.

    ## What it checks
    The rewards of tokens, but for the last of an answer, are an exact multiple of how much more likely the policy
    made them than the reference: the penalty for leaving it. The factor has the wrong sign.

    ## Why it matters
    The policy is paid for every step away from the reference, and runs away from it.

    ## Likely causes
    1. The penalty is added and not subtracted. Confirm: read the sign in front of the coefficient.
    2. The difference is taken the other way round. Confirm: the log-prob of the policy comes first.

    ## What to try first
    Make the reward of a token minus the coefficient times (log-prob of the policy - log-prob of the reference).

    ## When it is fine
    Never.

    ## References
    Bug kind POL-18 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "POL389"
    name: ClassVar[str] = "divergence-paid-out"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    tokens: int = 60  # of one round
    exact: float = 1e-3  # of the spread of rewards may be left over

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged, wrong = 0, []
        for table in tables(evidence):
            inner = np.arange(table.logp.shape[1])[None, :] < table.length[:, None] - 1
            if inner.sum() < self.tokens:
                continue
            own = table.logp[inner]
            for name, other in table.matrices:
                gap = own - other[inner]  # of the policy, and of what may be the reference
                if (
                    (other[inner] > 1e-6).any()
                    or float(np.abs(gap).mean()) < 1e-4
                    or other[inner].std() < 1e-6
                    or np.corrcoef(own, other[inner])[0, 1] < 0.1
                ):
                    continue
                for reward_name, rewards in table.matrices:
                    y = rewards[inner]
                    if reward_name == name or y.std() < 1e-9:
                        continue
                    factor = float(gap @ y / (gap @ gap))
                    if np.abs(y - factor * gap).max() > self.exact * float(np.abs(y).max()) or abs(factor) > 0.99:
                        continue  # or it is the difference itself
                    judged += 1
                    if factor > 0:
                        wrong.append((table, reward_name, name, factor))
        fits = [fit for each in told(evidence) if (fit := recursion(each)) is not None and fit.penalty]
        paid = [fit for fit in fits if fit.penalty is not None and fit.penalty > self.exact]
        if not judged and paid and len(paid) >= 0.9 * len(fits):
            yield self.finding(
                "tokens are rewarded for leaving the reference",
                where=paid[0].told.policy.call.where,
                seen=f"a factor of {paid[0].penalty:+.3g} in front of the log-ratio, in what the critic learns",
                expected="a negative factor: the policy pays for leaving the reference",
                help="subtract the penalty from the reward",
                confidence=0.93,
            )
            return
        if not judged and not fits:
            raise NotEnough("no rewards of tokens were found that are a multiple of a difference of log-probs")
        if not wrong or len(wrong) < 0.9 * judged:
            return
        table, reward_name, name, factor = wrong[0]
        yield self.finding(
            f"`{reward_name}` pays for tokens that the policy makes more likely than `{name}`",
            where=table.round.passes[0].call.where,
            seen=f"a factor of {factor:+.3g} in front of the log-ratio",
            expected="a negative factor: the policy pays for leaving the reference",
            help="subtract the penalty from the reward",
            confidence=0.93,
        )
