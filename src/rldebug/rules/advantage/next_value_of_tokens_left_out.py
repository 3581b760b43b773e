"""The advantage of a token leaves out the value of the next one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.token_critic import recursion, told
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class NextValueOfTokensLeftOut(Rule):
    """The advantage of a token leaves out the value of the next one.

    ## What it checks
    The recursion that advantages of tokens obey is found from what the critic is told in the first batch after the
    sequences were written. The advantage of the next token is carried on, but its value is not added.

    ## Why it matters
    Each token is blamed for its own value, and what is to come is counted only in part: the more tokens follow, the
    lower the advantage.

    ## Likely causes
    1. The variable for the next value is never set in the loop. Confirm: print it.
    2. The values are shifted along the wrong axis, or filled with zeros. Confirm: the same.

    ## What to try first
    Make the TD error reward + discount × value of the next token - value.

    ## When it is fine
    With a trace decay of 0 and a discount of 0 only the reward of a token counts; nothing is carried on then.

    ## References
    Bug kind ADV-04 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ADV380"
    name: ClassVar[str] = "next-value-of-tokens-left-out"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    rounds: int = 2  # whose recursion is found
    carried: float = 0.3  # of the next advantage
    nil: float = 0.02  # of the next value

    def check(self, evidence: Script) -> Iterator[Finding]:
        known = [fit for each in told(evidence) if (fit := recursion(each)) is not None]
        if len(known) < self.rounds:
            raise NotEnough(f"{len(known)} rounds whose advantages obey a recursion, needs {self.rounds}")
        wrong = [fit for fit in known if abs(fit.discount) < self.nil and fit.carried > self.carried]
        if len(wrong) < max(self.rounds, 0.8 * len(known)):
            return
        yield self.finding(
            "the advantage of a token leaves out the value of the next one",
            where=wrong[0].told.critic.call.where,
            seen=f"{wrong[0].carried:.3g} of the next advantage is carried on, {wrong[0].discount:.2g} of its value",
            expected="the discounted value of the next token in the TD error",
            help="add the value of the next token before that of the token is subtracted",
            confidence=0.92,
        )
