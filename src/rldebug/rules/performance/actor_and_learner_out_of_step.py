"""Actors and learner run side by side, and one of them waits for the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.timing import WORTH, Slice, Timing, total
from rldebug.evidence.timings.cores import idle as idle_cores
from rldebug.evidence.timings.telling import lasting, weight
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule

_AT_ENVIRONMENTS = ("environment", "wrapper", "vector")
_HANDED_OVER = ("queue.py", "queues.py", "connection.py", "threading.py", "synchronize.py")
_ACTS = ("simulator", "wrappers", "reset", "acting")


def _between_them(each: Slice) -> bool:
    """Waiting for what another thread or process hands over; not for the workers of an environment or a DataLoader."""
    return (
        each.part == "waiting"
        and not each.inside
        and not any(
            spot.kind in _AT_ENVIRONMENTS or spot.role in _AT_ENVIRONMENTS or "torch/utils/data/" in spot.file
            for spot in each.stack
        )
        and any(spot.file.endswith(_HANDED_OVER) or "/ray/" in spot.file for spot in each.stack)
    )


def _puts(each: Slice) -> bool:
    return each.called.endswith(("put", "send"))


@dataclass(frozen=True, kw_only=True)
class ActorAndLearnerOutOfStep(Rule):
    """Actors and learner run side by side, and one waits for the other.

    ## What it checks
    Programs that act in other threads or processes than the one that learns: how long the learner waits at queues,
    pipes and events for what the actors bring, and how long actors in threads wait to hand it over. From three tenths
    of their time on.

    ## Why it matters
    The run goes at the pace of the slower side; what the other side has is idle.

    ## Likely causes
    1. Too few actors for the learner. Confirm: the learner waits, and cores are idle.
    2. Actors in threads share one interpreter with the learner. Confirm: the process uses one core in all.
    3. The learner is slower than the actors, and a full queue holds them up. Confirm: the actors wait in `put`.

    ## What to try first
    Where the learner waits: more actors, in processes, while cores are idle. Where the actors wait: fewer of them, or
    larger batches.

    ## When it is fine
    Where the order of data must be kept, and each side is meant to wait for the other.

    ## References
    Espeholt et al., *IMPALA*; Petrenko et al., *Sample Factory*.
    """

    code: ClassVar[str] = "PRF921"
    name: ClassVar[str] = "actor-and-learner-out-of-step"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Timing"
    explains: ClassVar[tuple[str, ...]] = ("PRF003",)

    share: float = 0.3  # of its time that a side waits
    acts: float = 0.05  # of the run at most that the learner acts itself

    def check(self, evidence: Timing) -> Iterator[Finding]:
        if evidence.updates == 0:
            return
        if evidence.share(total(evidence.of("acting", "simulator", "wrappers"))) <= self.acts:
            yield from self._learner(evidence)
        yield from self._actors(evidence)

    def _learner(self, timing: Timing) -> Iterator[Finding]:
        waits = timing.of(where=lambda each: _between_them(each) and not _puts(each))
        seconds = total(waits)
        threads = {each.thread for each in timing.slices if each.thread != 0 and each.part in _ACTS}
        actors = len(threads) or timing.host.workers
        if timing.share(seconds) < self.share or not actors or actors > timing.host.cores > 0:
            return  # where actors take turns on the cores, more of them bring nothing: that is another rule's
        idle = idle_cores(timing)
        faster: float | None = None
        more = 0 if threads or idle is None else int(min(idle, timing.host.cores - actors))
        if more >= 1:
            # The learner keeps the pace of the actors: with more of them it goes faster, up to where it never waits.
            pace = timing.seconds * actors / (actors + more)
            faster = timing.speedup(timing.seconds, max(timing.seconds - seconds, pace))
        kind = "thread" if threads else "process"
        plural = f"{actors} {kind}{'es' if kind == 'process' else 's'}" if actors > 1 else f"one {kind}"
        cores = "" if idle is None else f"; {idle:.1f} of {timing.host.cores:g} cores are idle"
        yield self.finding(
            f"the learner waits {timing.share(seconds):.0%} of the time for actors",
            where=timing.where(waits),
            seen=f"{lasting(seconds)} of {lasting(timing.seconds)}; actors in {plural}{cores}",
            expected="a learner that always has something to learn from",
            help=f"start {more} more actor{'s' if more > 1 else ''}"
            if more >= 1
            else "run the actors in processes of their own: threads take turns at Python's lock"
            if threads
            else "make acting cheaper: several environments to an actor, one forward pass for all",
            confidence=0.75,
            severity=weight(faster),
            speedup=faster if faster is not None and faster >= WORTH else None,
        )

    def _actors(self, timing: Timing) -> Iterator[Finding]:
        others = [each for each in timing.slices if each.thread != 0]
        acting = {each.thread for each in others if each.part in ("simulator", "wrappers", "acting")}
        own = [each for each in others if each.thread in acting]
        waits = [each for each in own if _between_them(each) and _puts(each)]
        seconds, spent = total(waits), total(own)
        if spent <= 0 or seconds < self.share * spent:
            return
        yield self.finding(
            f"the actors wait {seconds / spent:.0%} of their time for the learner",
            where=timing.where(waits),
            seen=f"{lasting(seconds)} of {lasting(spent)} in {len(acting)} threads, handing over what they saw",
            expected="a learner that takes what it is brought",
            help="use fewer actors; the run goes at the pace of the learner: look at what its updates take",
            confidence=0.75,
            severity="note",
        )
