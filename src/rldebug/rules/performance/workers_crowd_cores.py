"""More workers than cores, and all cores are busy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.timing import Slice, Timing, total
from rldebug.evidence.timings.calling import stepped_at
from rldebug.evidence.timings.cores import used
from rldebug.evidence.timings.libraries import told
from rldebug.evidence.timings.telling import lasting
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import Rule


def _waits(each: Slice) -> bool:
    """Also where workers are spoken to by hand, in the midst of what the program does else."""
    return each.part == "waiting" or (not each.inside and any(told(spot) == "waiting" for spot in each.stack))


@dataclass(frozen=True, kw_only=True)
class WorkersCrowdCores(Rule):
    """More workers than cores take turns, and the program waits for them.

    ## What it checks
    Processes that the program started and that lived at the same time, half as many again as there are cores or more;
    all cores were busy, and the program waited for a quarter of the run. What fewer would gain is not known: the work
    is the same, only the turns are fewer. No number is promised.

    ## Why it matters
    A step of a vector ends with its slowest worker, and that is one that had to wait for a core. Each process also has
    its own memory, and its own copy of what it loaded.

    ## Likely causes
    1. As many workers as environments. Confirm: compare with the cores that may be used, in a container too.
    2. The machine has fewer cores than the one it was written for. Confirm: the same.

    ## What to try first
    As many workers as cores, with several environments in each.

    ## When it is fine
    Workers that mostly wait themselves: for a network, a game, a GPU.

    ## References
    Stable-Baselines3 documentation, *Vectorized Environments*; Clemente et al., *Efficient Parallel Methods for Deep
    Reinforcement Learning*.
    """

    code: ClassVar[str] = "PRF907"
    name: ClassVar[str] = "workers-crowd-cores"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "Timing"
    follows: ClassVar[tuple[str, ...]] = ("PRF701", "PRF908")

    crowd: float = 1.5  # workers to a core
    busy: float = 0.85  # of the cores
    waits: float = 0.25  # of the run

    def check(self, evidence: Timing) -> Iterator[Finding]:
        workers, cores, busy = evidence.host.workers, evidence.host.cores, used(evidence)
        slices = evidence.of(where=_waits)
        seconds = total(slices)
        if workers < 2 or workers < self.crowd * cores or busy is None or busy < self.busy * cores:
            return
        children = sum(each.children_cpu for each in evidence.windows)
        spent = children + sum(each.cpu for each in evidence.windows)
        if evidence.share(seconds) < self.waits or children < 0.5 * spent:
            return
        made = next((each.created for each in evidence.environments if each.workers and each.created), None)
        yield self.finding(
            f"{workers} workers share {cores:.3g} cores",
            where=stepped_at(slices) if made is None else Where(file=made[0], line=made[1]),
            seen=f"{busy:.1f} of {cores:.3g} cores in use; the program waits for {lasting(seconds)}, "
            f"{evidence.share(seconds):.0%} of the run",
            expected=f"about {max(1, int(cores))} workers",
            help="put several environments into each worker, and start no more workers than there are cores",
            confidence=0.7,
            severity="note",
        )
