"""In training the memory of a network runs on over the beginning of an episode; acting begins with an empty one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.memory_states import memories
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class MemoryRunsOnInTraining(Rule):
    """The memory is emptied to act, and in training it never is.

    ## What it checks
    The state that a recurrent cell is given for an observation that begins an episode, while acting and in the first
    loss after it. To act it is empty. Where a sequence is gone through again to learn, it is what was remembered of the
    episode before, in nearly all of them; and nowhere in a sequence is any state empty, as it would be if the beginning
    were only marked in the wrong row. Exact.

    ## Why it matters
    The network learns with memories that it never has while acting; every row that follows is off as well.

    ## Likely causes
    1. The loop that goes through a sequence again lacks the line that empties the state. Confirm: hold it beside the
       loop that acts.
    2. Flags of beginnings are handed over, and all of them are 0. Confirm: print their sum.

    ## What to try first
    `h = h * (1 - first[t])[:, None]` before each step of the sequence, as it is done to act.

    ## When it is fine
    Never, if the state is emptied to act.

    ## References
    Huang et al., *The 37 Implementation Details of Proximal Policy Optimization* (2022), LSTM details.
    """

    code: ClassVar[str] = "NET512"
    name: ClassVar[str] = "memory-runs-on-in-training"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "memory"

    rows: int = 8  # that begin an episode amid a sequence
    share: float = 0.9  # of them that are given what was remembered
    started: float = 0.6  # of the sequences that begin with the state that the observation was acted with

    def check(self, evidence: Script) -> Iterator[Finding]:
        seen = memories(evidence)
        begins = seen.of(("begins",), "later")
        if seen.audits < 2 or seen.example is None or begins.total() < self.rows:
            raise NotEnough("states of a recurrent cell were not seen where an episode begins amid a sequence")
        starts, later = seen.of(("within", "ends"), "start"), seen.of(("begins", "within", "ends"), "later")
        if begins["kept"] < self.share * begins.total() or later["empty"]:
            return
        if starts["same"] < self.started * starts.total():
            return  # the sequences begin with other states altogether
        yield self.finding(
            "to act, the memory is emptied where an episode begins; in training it never is",
            where=seen.example.where,
            seen=f"what was remembered of the episode before in {begins['kept']} of {begins.total()} rows that begin "
            f"one, before any step of the optimizer; no empty state in any of {later.total()} rows",
            expected="the empty state that the observation was acted with",
            help="empty the state where an episode begins when a sequence is gone through again, as it is done to act",
            confidence=0.95,
        )
