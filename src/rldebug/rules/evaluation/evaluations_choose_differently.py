"""One evaluation takes the best action, another draws it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.chosen import chosen_in_evaluations
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EvaluationsChooseDifferently(Rule):
    """One evaluation takes the best action, another draws it.

    ## What it checks
    The program plays its policy in more than one environment that it does not learn from. In one the most likely
    action is always taken, in the other actions are drawn.

    ## Why it matters
    The two results measure different policies and are not comparable.

    ## Likely causes
    1. `predict` is called without `deterministic=True` in one of the loops. Confirm: compare the calls.
    2. A flag is not passed on. Confirm: the same.

    ## What to try first
    Choose one way, and pass it on in both.

    ## When it is fine
    Where both are meant to be measured, the greedy policy and the one that samples.

    ## References
    Bug kind EVA-02 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "EVA350"
    name: ClassVar[str] = "evaluations-choose-differently"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    steps: int = 20  # in each of the two
    drawn: float = 0.1  # share of actions that are not the most likely one

    def check(self, evidence: Script) -> Iterator[Finding]:
        played = {
            stream: found for stream, found in chosen_in_evaluations(evidence).items() if len(found.best) >= self.steps
        }
        if len(played) < 2:
            raise NotEnough(f"choices in {len(played)} environments that are not learned from, needs 2")
        greedy = [each for each in played.values() if each.best.all()]
        drawn = [each for each in played.values() if 1.0 - float(each.best.mean()) >= self.drawn]
        if not greedy or not drawn:
            return
        one, other = greedy[0], drawn[0]
        yield self.finding(
            "one evaluation takes the most likely action, and another draws it",
            where=other.event.where,
            seen=f"the most likely action in all of {len(one.best)} steps here, and in "
            f"{float(other.best.mean()):.0%} of {len(other.best)} steps there",
            expected="the same way of choosing in both",
            help="pass the same flag, such as deterministic=True, in both evaluations",
            confidence=0.8,
        )
