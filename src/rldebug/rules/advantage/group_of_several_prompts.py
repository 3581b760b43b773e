"""Answers to different prompts are compared in one group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.generations import Generations
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class GroupOfSeveralPrompts(Rule):
    """Answers to different prompts are compared in one group.

    ## What it checks
    The answers that the trainer takes for one group do not all belong to the same prompt.

    ## Why it matters
    The advantage says how an answer compares with others to the same prompt. Across prompts it says which prompt was
    easy.

    ## Likely causes
    1. The sampler of prompts does not repeat each `num_generations` times in a row: another `_get_train_sampler`, a
       shuffled dataloader. Confirm: print the prompts of a batch.
    2. A rollout function returns answers in another order than prompts came in. Confirm: print prompt and answer side
       by side.
    3. `num_generations` differs between sampler and trainer. Confirm: compare the two.

    ## What to try first
    Print the first `num_generations` prompts of a batch: they must be one and the same.

    ## When it is fine
    Never, with advantages relative to a group.

    ## References
    DeepSeekMath, section 4.1.
    """

    code: ClassVar[str] = "ADV510"
    name: ClassVar[str] = "group-of-several-prompts"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Generations"

    share: float = 0.1  # of groups that are mixed

    def check(self, evidence: Generations) -> Iterator[Finding]:
        mixed = whole = 0
        where = None
        for each in evidence.rounds:
            prompt = each.columns.get("text", each.column("prompt"))
            for rows in each.groups(evidence.size):
                whole += 1
                if len(set(prompt[rows])) > 1:
                    mixed += 1
                    where = where or Where(update=each.update)
        if not whole or evidence.size < 2:
            raise NotEnough("no whole group of answers")
        if mixed <= self.share * whole:
            return
        yield self.finding(
            "answers to different prompts are compared in one group",
            where=where,
            seen=f"{mixed} of {whole} groups of {evidence.size} hold several prompts",
            expected="each group holds answers to one prompt",
            help="repeat every prompt num_generations times in a row, and keep answers in the order of the prompts",
            confidence=0.97,
        )
