"""A value network is followed greedily from the first step on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.exploring import discrete, draws_nothing, sampled, steps_of, valued
from rldebug.forensics.updates import resumed
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class GreedyFromFirstStep(Rule):
    """A value network is followed greedily from the first step on.

    ## What it checks
    Each step of the program, against what the network that learns the values of the actions said of it: in every single
    one, from the first step of the run to the last that was looked at, the action with the largest value was executed.
    The network has no layers that draw noise, and nothing is sampled.

    ## Why it matters
    A greedy agent follows an untrained network, and learns only about the actions that network happens to prefer.

    ## Likely causes
    1. There is no epsilon-greedy choice at all, or the test is the wrong way round. Confirm: print how often the random
       branch is taken.
    2. Epsilon is 0 from the start: its schedule is at its end at once, or an option has no effect. Confirm: print it.
    3. The function that acts in evaluation is used in training. Confirm: look at which one is called.

    ## What to try first
    Count how often the random branch is taken in the first thousand steps.

    ## When it is fine
    Training that goes on from a checkpoint, and values that start optimistic.

    ## References
    Sutton and Barto, *Reinforcement Learning: An Introduction* (2018), section 2.2.
    Seen in the wild: EXP-05 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "EXP301"
    name: ClassVar[str] = "greedy-from-first-step"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "threshold"

    steps: int = 100  # in all
    first: int = 20  # of the audit that the run begins with
    audits: int = 2  # in which steps were looked at

    def check(self, evidence: Script) -> Iterator[Finding]:
        count = discrete(evidence)
        found = [each for each in steps_of(evidence) if each.module in valued(evidence)]
        if count is None or not found or sampled(evidence):
            raise NotEnough("no network that learns the value of each action was seen to act")
        begun = next((each for each in found if each.audit.env_step == 0), None)
        total = sum(len(each) for each in found)
        if begun is None or len(begun) < self.first or total < self.steps or len(found) < self.audits:
            raise NotEnough(
                f"{total} steps in {len(found)} audits were looked at, needs {self.steps}, the first ones among them"
            )
        if resumed(evidence) or len(found) != len(steps_of(evidence)):
            return
        for each in found:
            if each.output.shape[1] != count or not draws_nothing(evidence, str(each.module)):
                return
            agrees = each.agrees()
            if np.isnan(agrees).mean() > 0.02 or (agrees == 0).any():
                return
        line = begun.line
        yield self.finding(
            "the best action by the untrained network is taken from the first step on",
            where=Where(file=line[0], line=line[1], update=0) if line else Where(update=0),
            seen=f"in all {total} steps that were looked at, over {len(found)} stretches, the action with the "
            "largest value was executed",
            expected="random actions at first, and some to the end",
            help="count how often the random branch of the choice is taken",
            confidence=0.9,
        )
