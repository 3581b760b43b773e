"""All answers to a prompt are the same, though the policy is unsure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.generations import Generations
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class AnswersOfAGroupAlike(Rule):
    """All answers to a prompt are the same, though the policy is unsure.

    ## What it checks
    Almost every group of answers to one prompt holds the same answer again and again, while the policy's entropy says
    that it should hold different ones.

    ## Why it matters
    Answers are compared within their group. Where all are the same, all advantages are nil and nothing is learned;
    and what is learned from is not a sample of the policy.

    ## Likely causes
    1. Generation is greedy: `do_sample=False`, or a temperature next to 0. Confirm: print the generation settings.
    2. The generator is seeded anew for every answer. Confirm: look for a seed in the sampler or in a reward function.
    3. The same answer is copied for the whole group: the sampler is asked once for each prompt. Confirm: count its
       calls.

    ## What to try first
    Sample with the temperature that the trainer scores with, 1.0 unless there is a reason.

    ## When it is fine
    Never, while the policy is unsure; a policy that has become sure has ENT510.

    ## References
    DeepSeekMath, section 4.1 (group relative advantages).
    """

    code: ClassVar[str] = "ACT510"
    name: ClassVar[str] = "answers-of-a-group-alike"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Generations"

    share: float = 0.9  # of groups that hold one answer only
    groups: int = 6  # that are needed
    entropy: float = 0.2  # nats a token, of a policy that is unsure

    def check(self, evidence: Generations) -> Iterator[Finding]:
        alike = whole = 0
        for each in evidence.rounds:
            answer, tokens = each.column("answer"), each.column("tokens")
            for rows in each.groups(evidence.size):
                if evidence.size > 1 and tokens[rows].max() > 1:
                    whole += 1
                    alike += len(set(answer[rows])) == 1
        entropy = evidence.passed("entropy")
        entropy = entropy[np.isfinite(entropy)]
        if whole < self.groups or not len(entropy):
            raise NotEnough(f"{whole} groups of answers, needs {self.groups}, and the entropy of the policy")
        unsure = float(entropy.mean())
        if alike < self.share * whole or unsure < self.entropy:
            return
        greedy = any(each.facts.get("drawn") is False for each in evidence.rounds)
        yield self.finding(
            "all answers to a prompt are the same, though the policy is unsure",
            seen=f"{alike} of {whole} groups hold {evidence.size} times the same answer; the policy's "
            f"entropy is {unsure:.2g} nats a token" + ("; no token was drawn at random" if greedy else ""),
            expected="answers drawn from the policy, which differ",
            help="turn sampling on (do_sample=True), with the temperature that the trainer has"
            if greedy
            else "look at temperature and seeds of the sampler",
            confidence=0.95,
        )
