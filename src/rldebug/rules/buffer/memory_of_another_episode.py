"""What was seen earlier in the episode is not remembered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class MemoryOfAnotherEpisode(Rule):
    """What was seen earlier in the episode is not remembered.

    ## What it checks
    A cue, blank steps, and a question: an algorithm with a memory does not answer it.

    ## Why it matters
    A memory that is reset at the wrong step, or never, is noise that the network has to learn to ignore.

    ## Likely causes
    1. The hidden state is not reset where an episode ends, or one step too early or too late. Confirm: print it at
       the first step of each episode.
    2. Sequences for learning begin with another state than they had when acting. Confirm: recompute log-probabilities
       of a stored sequence: the ratio must be 1.
    3. The axes of time and environments are confused when sequences are made. Confirm: put the step's number into the
       observation, and look at a sequence.
    4. The state is not carried from step to step. Confirm: print it for three steps in a row.

    ## What to try first
    Print the hidden state at the first step of each episode, when acting and when learning.

    ## When it is fine
    Never, where a memory is said to be there.

    ## References
    Kapturowski and others, *Recurrent experience replay in distributed reinforcement learning*.
    """

    code: ClassVar[str] = "BUF017"
    name: ClassVar[str] = "memory-of-another-episode"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = up_to("POL016")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["recall"]
        if rung.outcome != "failed":
            return
        yield self.finding(
            "what was seen earlier in the episode is not remembered, or belongs to an earlier one",
            **shown(rung),
            help="print the hidden state at the first step of each episode, when acting and when learning",
            confidence=0.8,
        )
