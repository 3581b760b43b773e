"""All data is collected before the first update, and the run ends after it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.roles import roles_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class OneRoundOfLearning(Rule):
    """An on-policy program collects once, learns once, and ends.

    ## What it checks
    A program that learns on-policy, from log-probs and advantages of what it has just played, came to its end. It took
    thousands of steps in the environment, all of them before the first update.

    ## Why it matters
    On-policy learning lives on the exchange: play, learn a little, play with the better policy. One round is next to
    nothing, whatever the budget of steps.

    ## Likely causes
    1. The length of a rollout counts steps of each environment, and was set as if it counted all of them. Confirm:
       rollout length × environments against the steps of the whole run.
    2. The budget is divided by the number of environments, though it counts them all. Confirm: print the number of
       iterations.

    ## What to try first
    A rollout of 1/50 of the budget or less.

    ## When it is fine
    A trial run of one iteration.

    ## References
    Schulman et al., *Proximal Policy Optimization Algorithms*.
    """

    code: ClassVar[str] = "OPT317"
    name: ClassVar[str] = "one-round-of-learning"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    env_steps: int = 4096  # a shorter run may be a trial

    def check(self, evidence: Script) -> Iterator[Finding]:
        counts = evidence.counts
        steps, updates = int(counts.get("env_steps") or 0), int(counts.get("updates") or 0)
        if evidence.meta.get("state") != "finished" or steps < self.env_steps or not updates:
            raise NotEnough("the program did not come to its end, took few steps, or none of an optimizer")
        terms = [(audit, each) for audit, each in evidence.terms("policy") if "weight" in each.arrays]
        if not terms or not roles_of(evidence).on_policy:
            raise NotEnough("no on-policy loss was seen")
        stream = next((each for each in evidence.streams if each["index"] == roles_of(evidence).stream), {})
        played = int(stream.get("steps") or 0)
        # Rounds of play in that environment. Those of the whole run do not tell: an evaluation at the end is one more.
        if stream.get("phases") != 1 or played < self.env_steps:
            return
        yield self.finding(
            "the program collects once, learns once, and ends",
            where=terms[0][1].where,
            seen=f"{played} steps in the environment before the first of {updates} updates, none after them",
            expected="many rounds of collecting and learning",
            help="shorten the rollout: its length may count the steps of each environment",
            confidence=0.9,
        )
