"""In the evaluation the network forgets at every step what it has seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.carried_state import carried_states
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class MemoryNotCarriedInEvaluation(Rule):
    """In the evaluation the network forgets at every step what it has seen.

    ## What it checks
    A network with a memory is given its state beside the observation. While it acts for training, the state is
    carried from step to step; in the evaluation it is all zero at every step.

    ## Why it matters
    The policy was trained to use its memory, and is judged without it.

    ## Likely causes
    1. The state that the network returns is not assigned in the evaluation loop, or is set anew within it. Confirm:
       print its norm at the third step.
    2. The flag that says an episode begins stays set. Confirm: the same.

    ## What to try first
    Set the state to zero at each reset of the evaluation, and carry it from step to step in between.

    ## When it is fine
    Never, where it is carried in training.

    ## References
    Hausknecht and Stone, *Deep Recurrent Q-Learning for Partially Observable MDPs* (2015).
    """

    code: ClassVar[str] = "EVA353"
    name: ClassVar[str] = "memory-not-carried-in-evaluation"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "evaluation"

    steps: int = 20  # of an evaluation, the first of each episode left out
    carried: float = 0.8  # share of the steps of training at which the state is not zero

    def check(self, evidence: Script) -> Iterator[Finding]:
        most = 0
        for trained, played in carried_states(evidence):
            most = max(most, min(len(trained.norms), len(played.norms)))
            if min(len(trained.norms), len(played.norms)) < self.steps:
                continue
            if float((trained.norms > 0).mean()) < self.carried or (played.norms > 0).any():
                continue
            yield self.finding(
                "in the evaluation the network forgets at every step what it has seen",
                where=played.event.where,
                seen=f"a state of all zeros at {len(played.norms)} steps of the evaluation; in training it is carried "
                f"at {float((trained.norms > 0).mean()):.0%} of the steps",
                expected="the state of the step before, but at the first of an episode",
                help="carry the state that the network returns from step to step",
                confidence=0.93,
            )
            return
        if most < self.steps:
            raise NotEnough(f"{most} steps of an evaluation of a network with a state, needs {self.steps}")
