"""Environments take turns in one process while cores are idle."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.timing import WORTH, Environment, Slice, Timing, total
from rldebug.evidence.timings.calling import stepped_at
from rldebug.evidence.timings.cores import used
from rldebug.evidence.timings.telling import lasting, weight
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import Rule

_NETWORKS = ("acting", "loss", "backward", "optimizer")
_HAND_OVER = 1e-4  # seconds to send a step to another process and back, where that was not measured


def _one_by_one(each: Slice) -> bool:
    """A vector calls an environment of its own: not a simulator that steps all lanes at once."""
    roles = [spot.role or spot.kind for spot in each.stack]
    return "vector" in roles and not {"environment", "wrapper"}.isdisjoint(roles[roles.index("vector") :])


def _together(timing: Timing) -> tuple[list[Environment], int]:
    """The environments that are learned from and stepped in turns, and how many lanes they have in all."""
    played = [each for each in timing.environments if not each.evaluation and each.calls]
    most = sum(each.steps for each in played)
    for each in played:
        if each.lanes > 1 and each.workers == 0 and each.steps >= 0.8 * most:
            nested = timing.of("simulator", "wrappers", where=_one_by_one)
            whole = total(timing.of("simulator", "wrappers"))
            return ([each], each.lanes) if total(nested) >= 0.6 * whole else ([], 0)
    # A loop of the user's own: made at one place, played equally long and to the same end.
    alike = [each for each in played if each.lanes == 1 and each.workers == 0 and each.created == played[0].created]
    if len(alike) < 2 or len(alike) != len(played) or alike[0].created is None:
        return [], 0
    calls, ends = [each.calls for each in alike], [each.last for each in alike]
    if min(calls) < 0.8 * max(calls) or max(ends) - min(ends) > 0.05 * timing.seconds:
        return [], 0
    return alike, len(alike)


@dataclass(frozen=True, kw_only=True)
class EnvsSteppedSerially(Rule):
    """Environments take turns in one process while cores are idle.

    ## What it checks
    Several environments are stepped one after the other, in a vector or in a loop of the program's own: they take three
    tenths of the run, other cores are idle, and a step costs clearly more than to send it to another process and back,
    as measured on this machine. Simulators that step all lanes at once do not count.

    ## Why it matters
    Environments do not depend on one another: eight of them on eight cores take little longer than one.

    ## Likely causes
    1. `SyncVectorEnv` or `DummyVecEnv`, the default of many scripts. Confirm: look where the environment is made.
    2. A loop over environments. Confirm: the line that is named.

    ## What to try first
    `gymnasium.vector.AsyncVectorEnv`, or `SubprocVecEnv` of Stable-Baselines3: the same arguments.

    ## When it is fine
    Where the other cores are meant for other runs.

    ## References
    Gymnasium documentation, *AsyncVectorEnv*; Petrenko et al., *Sample Factory*.
    """

    code: ClassVar[str] = "PRF905"
    name: ClassVar[str] = "envs-stepped-serially"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Timing"
    explains: ClassVar[tuple[str, ...]] = ("PRF003",)

    share: float = 0.3  # of the run in environments
    busy: float = 1.3  # cores in use at most, without those that further threads of torch may have used
    starved: float = 0.8  # of one core that it has, below which the machine is not idle
    clearly: float = 2.0  # times what it costs to hand a step over
    efficiency: float = 0.8  # of each further core: workers wait for the slowest

    def check(self, evidence: Timing) -> Iterator[Finding]:
        environments, lanes = _together(evidence)
        slices = evidence.of("simulator", "wrappers")
        seconds, busy = total(slices), used(evidence)
        free = int(evidence.host.cores)
        if not environments or busy is None or free < 2 or evidence.share(seconds) < self.share:
            return
        awake = 1 - evidence.share(total(evidence.of("waiting", "rendering", "saving")))
        if busy < self.starved * awake:
            return  # it does not get its own core: others are at work on this machine
        if busy > self.busy + evidence.share(total(evidence.of(*_NETWORKS))) * (evidence.host.threads - 1):
            return
        steps = sum(each.steps for each in environments)
        measured = evidence.yardstick.get("vector")
        hand_over = _HAND_OVER if measured is None else measured.detail.get("async", _HAND_OVER)
        if steps <= 0 or seconds / steps < self.clearly * hand_over:
            return
        workers = min(free, lanes)
        instead = hand_over * steps + seconds / (1 + self.efficiency * (workers - 1))
        if measured is not None and (own := measured.detail.get("env_sync")):
            instead = max(instead, seconds * measured.detail.get("env_async", own) / own)
        speedup = evidence.speedup(seconds, instead)
        if speedup < WORTH:
            return
        made = environments[0].created
        yield self.finding(
            f"{lanes} environments take turns in one process, on one of {free} cores",
            where=stepped_at(slices) if made is None else Where(file=made[0], line=made[1]),
            seen=f"{lasting(seconds)} in environments, {evidence.share(seconds):.0%} of the run, "
            f"{lasting(seconds / steps)} a step; {busy:.1f} cores in use",
            expected=f"about {lasting(instead)} in {workers} processes; to hand a step over takes {lasting(hand_over)}"
            + (" on this machine" if measured is not None else ", as assumed"),
            help="use gymnasium.vector.AsyncVectorEnv, or SubprocVecEnv, with as many environments as there are cores",
            confidence=0.8,
            severity=weight(speedup),
            speedup=speedup,
        )
