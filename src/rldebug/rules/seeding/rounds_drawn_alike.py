"""Every round is drawn from the same state of the generator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.generations import Generations
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class RoundsDrawnAlike(Rule):
    """Every round is drawn from the same state of the generator.

    ## What it checks
    The state of the generator of torch when a round of answers begins to be written.

    ## Why it matters
    The same random numbers choose the tokens of every round: what is explored is one path, again and again.

    ## Likely causes
    1. Something seeds torch in every round: a reward function, a callback, a rollout function. Confirm: look for
       `manual_seed` and `set_seed`.
    2. A generator's state is put back after each round. Confirm: look for `set_rng_state`.

    ## What to try first
    Seed once, before training. In a reward function use a generator of its own.

    ## When it is fine
    Never.

    ## References
    PyTorch, reproducibility.
    """

    code: ClassVar[str] = "SEE510"
    name: ClassVar[str] = "rounds-drawn-alike"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Generations"

    rounds: int = 3  # that begin with the same state

    def check(self, evidence: Generations) -> Iterator[Finding]:
        states = [each.facts.get("generator") for each in evidence.rounds if each.facts.get("drawn")]
        if len(states) < self.rounds:
            raise NotEnough(f"{len(states)} rounds that were drawn, needs {self.rounds}")
        most = max(states.count(each) for each in states)
        if most < self.rounds:
            return
        yield self.finding(
            "rounds of answers are drawn from the same state of the generator",
            seen=f"{most} of {len(states)} rounds begin with the same state",
            expected="a state of its own for every round",
            help="seed once, before training: look for manual_seed or set_seed in reward functions and callbacks",
            confidence=0.97,
        )
