"""The likeliest action is taken while a stochastic policy is trained."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.chances import Choices, choices, no_unlikely_choice
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class GreedyWhileTraining(Rule):
    """A stochastic policy is trained on its likeliest actions only.

    ## What it checks
    The log-probs of the actions in the first loss after acting: whether each action is the likeliest of its row,
    although sampling would have taken another one many times. The chance of that is computed; it must be below one in a
    million million.

    ## Why it matters
    Nothing but the present favourite is ever tried, so that it stays the favourite; and a policy gradient is only right
    for actions that were drawn from the policy.

    ## Likely causes
    1. `argmax` in place of a draw while training. Confirm: read the line that chooses the action.
    2. A flag for evaluation (deterministic, greedy) is on while training. Confirm: print it in the training loop.

    ## What to try first
    `action = Categorical(logits=logits).sample()`.

    ## When it is fine
    Policies that are deterministic by now: their likeliest action is nearly certain, and nothing can be concluded.

    ## References
    Sutton and Barto, *Reinforcement Learning*, 13.3.
    """

    code: ClassVar[str] = "ACT321"
    name: ClassVar[str] = "greedy-while-training"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "drawn"
    follows: ClassVar[tuple[str, ...]] = ("OPT306", "OPT307", "GRA302")

    audits: int = 2  # in which the choices of a policy were seen
    chance: float = 12.0  # −log10 of it, in all

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = choices(evidence)
        if len({each.surrogate.audit.number for each in found}) < self.audits:
            raise NotEnough(f"the choices of a policy were seen in less than {self.audits} audits")
        telling: list[tuple[float, Choices]] = []
        for each in found:
            chance = no_unlikely_choice(each)
            if chance is None:
                return
            telling.append((chance, each))
        total = -sum(chance for chance, _ in telling) / np.log(10)
        if total < self.chance:
            raise NotEnough(f"likeliest actions only, but by chance in one of 10^{total:.0f} runs")
        first = telling[0][1]
        yield self.finding(
            "the policy acts greedily while it is trained",
            where=first.surrogate.term.where,
            seen=f"the likeliest action in all {sum(len(each.logp) for _, each in telling)} rows; "
            f"sampling does that in one of 10^{total:.0f} runs",
            expected="actions drawn from the policy",
            help="sample the action while training; take the likeliest one in evaluation only",
            confidence=0.96,
        )
