"""The advantages are centred over answers to different prompts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.token_advantages import weighted
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class AnswersComparedAcrossPrompts(Rule):
    """The advantages are centred over answers to different prompts.

    ## What it checks
    Several answers are written to each prompt, and each is weighted with one number. These numbers do not sum to
    zero over the answers to one prompt, but they do, exactly, over sets that run across the prompts: the first
    answer to each, the second to each, and so on.

    ## Why it matters
    An answer is compared with answers to other questions: those to easy prompts are all made more likely, those to
    hard ones less, whatever they say.

    ## Likely causes
    1. The mean is taken along the wrong axis of the rewards. Confirm: print the shape, and which axis holds the
       answers to one prompt.
    2. The rewards are reshaped to (answers, prompts) where prompts were repeated one by one, or the other way
       round. Confirm: `repeat` and `repeat_interleave` give different orders.

    ## What to try first
    Reshape the rewards to (prompts, answers) in the order of writing and take mean and spread along the last axis.

    ## When it is fine
    A mean over the whole batch is another method, and is not counted.

    ## References
    Bug kind ADV-09 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ADV370"
    name: ClassVar[str] = "answers-compared-across-prompts"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "weighed"

    rounds: int = 1  # of writing and learning
    nil: float = 1e-3  # a mean that is smaller than this beside the spread
    apart: float = 0.05  # one that is not nil

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged, wrong = 0, []
        for each in weighted(evidence):
            judged += 1
            count, sets = len(each.advantage), len(np.unique(each.groups))
            if each.sums(each.groups) < self.apart:
                continue
            if count % sets or sets < 2:
                continue
            place = np.arange(count)
            for other in (place % sets, place // sets, place % (count // sets), place // (count // sets)):
                mixed = any(len(np.unique(each.groups[other == one])) > 1 for one in np.unique(other))
                if mixed and len(np.unique(other)) > 1 and each.sums(other) < self.nil:
                    wrong.append(each)
                    break
        if judged < self.rounds:
            raise NotEnough(f"{judged} rounds whose advantages and prompts are known, needs {self.rounds}")
        if len(wrong) < max(self.rounds, 0.9 * judged):
            return
        each = wrong[0]
        yield self.finding(
            f"`{each.name}` is centred over answers to different prompts",
            where=each.passes[0].call.where,
            seen=f"a mean of up to {each.sums(each.groups):.2g} spreads among the answers to one prompt, "
            "and of nil across prompts",
            expected="a mean of nil among the answers to one prompt",
            help="reshape the rewards to (prompts, answers) in the order of writing; take the mean along the last axis",
            confidence=0.96,
        )
