"""Training gives a recurrent network other memories than acting."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.memory_ratios import memory_ratios
from rldebug.forensics.memory_states import memories
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class MemoryUnlikeActing(Rule):
    """Training gives a recurrent network other memories than acting.

    ## What it checks
    The state that a recurrent cell is given for an observation, while acting and in the first loss after it: the
    weights are the same then, and so must be the states. Three kinds of differences are told apart: the state goes on
    over the beginning of an episode, it is emptied in the last step of an episode in place of the first, and sequences
    begin with the state of another row. Where the network itself empties the state, by a flag that it is given, the
    flags are compared by what it says, or by the ratios: those of rows that begin an episode must be 1, as those of
    the rows before. Sequences that begin with an empty state are not judged.

    ## Why it matters
    The network learns with memories that it never has while acting; ratios are off from the start.

    ## Likely causes
    1. The flag that is stored with an observation says that the episode ended *after* it, and training takes it for
       "begins here". Confirm: print flag and observation around the end of an episode.
    2. The states that were stored are cut into sequences otherwise than the observations. Confirm: the state of the
       first row of a sequence must be the one that was stored beside that observation.
    3. Time and environments are mixed up when sequences are cut. Confirm: reshape an array of step numbers in the same
       way.

    ## What to try first
    Compare the state of ten rows, while acting and in the first update: before a step they are equal.

    ## When it is fine
    Where states are approximated on purpose by other than empty ones.

    ## References
    Kapturowski et al. 2019, *Recurrent Experience Replay in Distributed Reinforcement Learning*.
    """

    code: ClassVar[str] = "BUF368"
    name: ClassVar[str] = "memory-unlike-acting"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "memory"
    follows: ClassVar[tuple[str, ...]] = ("NET512",)

    rows: int = 8  # of a kind
    share: float = 0.8  # of them with the same difference
    right: float = 0.05  # of the ratios of other rows that may be off

    def check(self, evidence: Script) -> Iterator[Finding]:
        seen = memories(evidence)
        by_ratio = self._by_ratio(evidence)
        if by_ratio is not None:
            yield by_ratio
            return
        if seen.audits < 2 or seen.example is None:
            raise NotEnough("states of a recurrent cell were not seen both while acting and while learning")
        begins, ends = seen.of(("begins",), "later"), seen.of(("ends",), "later")
        starts = seen.of(("within", "ends"), "start")
        early, of_ends = seen.flagged("ends", self.rows)
        late, of_begins = seen.flagged("begins", self.rows)
        told = ""
        if ends.total() >= self.rows and ends["empty"] >= self.share * ends.total():
            told = f"emptied in the last step of an episode, in {ends['empty']} of {ends.total()}"
        elif begins.total() >= self.rows and begins["kept"] >= self.share * begins.total():
            told = f"not emptied where an episode begins, in {begins['kept']} of {begins.total()}"
        elif of_ends >= self.rows and early >= self.share * of_ends:
            told = f"emptied in the last step of an episode, in {early} of {of_ends}"
        elif of_begins >= self.rows and late >= self.share * of_begins:
            told = f"not emptied where an episode begins, in {late} of {of_begins}"
        elif starts.total() >= 2 * self.rows and starts["other"] + starts["empty"] >= 0.4 * starts.total():
            if starts["other"] < 0.25 * starts.total():
                return  # begun anew with every sequence
            told = f"that of another row at the start of sequences, in {starts['other']} of {starts.total()}"
        if told:
            yield self.finding(
                "the memory of the network is another one in training than while acting",
                where=seen.example.where,
                seen=f"{told} rows, before any step of the optimizer",
                expected="the state that the observation was acted with",
                help="store state and start flag beside the observation, and cut all of them in the same way",
                confidence=0.95,
            )

    def _by_ratio(self, evidence: Script) -> Finding | None:
        """Where the state is inside of the network: by which rows have a ratio other than 1."""
        seen = memory_ratios(evidence)
        carried, begins = seen.share("carried", self.rows), seen.share("begins", self.rows)
        if seen.audits < 2 or seen.example is None or carried is None or begins is None:
            return None
        if carried > self.right or begins < self.share:
            return None
        ends = seen.share("ends", self.rows)
        early = ends is not None and ends >= self.share
        told = "from the last step of an episode on" if early else "where an episode begins, and not before"
        return self.finding(
            "the memory of the network is another one in training than while acting",
            where=seen.example.where,
            seen=f"before any step of the optimizer, ratios are off {told}: in {seen.off['begins']} of "
            f"{seen.rows['begins']} rows that begin an episode, and in {seen.off['carried']} of {seen.rows['carried']} "
            "before them",
            expected="a memory that is emptied where an episode begins, while acting as in training",
            help="store the start flag beside the observation, and empty the state by it in both places",
            confidence=0.93,
        )
