"""Environments in processes of their own cost more to reach than to step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.timing import WORTH, Environment, Measured, Slice, Timing, total
from rldebug.evidence.timings.calling import stepped_at
from rldebug.evidence.timings.telling import lasting, weight
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import Rule


def _for_workers(each: Slice) -> bool:
    """Waiting, and what the vector itself does around it: sending actions, putting together what comes back."""
    roles = [spot.kind for spot in each.stack if spot.kind in ("environment", "wrapper", "vector")]
    if each.part == "waiting":
        return each.inside or "vector" in roles or any(spot.role == "vector" for spot in each.stack)
    return bool(roles) and roles[-1] == "vector" and "wrappers" not in each.stack[-1].file


@dataclass(frozen=True, kw_only=True)
class SubprocessEnvsSlower(Rule):
    """Processes for environments cost more than they save.

    ## What it checks
    A vector of environments in processes of their own: how long the program waits for them at each step, beside what
    the same environments would take one after the other in one process. That is worked out from the time that the
    workers computed, less what it takes them to receive and to answer, as measured on this machine.

    ## Why it matters
    To hand a step over and back takes a tenth of a millisecond. A step of CartPole takes a tenth of that.

    ## Likely causes
    1. `AsyncVectorEnv` or `SubprocVecEnv` for a small environment. Confirm: replace it and compare the pace.

    ## What to try first
    `gymnasium.vector.SyncVectorEnv`, or `DummyVecEnv` of Stable-Baselines3: the same arguments.

    ## When it is fine
    Environments whose episodes differ much in cost, or that crash and must not take the program with them.

    ## References
    Stable-Baselines3 documentation, *Vectorized Environments*.
    """

    code: ClassVar[str] = "PRF906"
    name: ClassVar[str] = "subprocess-envs-slower"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Timing"
    explains: ClassVar[tuple[str, ...]] = ("PRF907",)

    clearly: float = 0.7  # of the waiting at most that they take in one process
    own: float = 0.2  # of what workers compute that is the environment's own, at least

    def check(self, evidence: Timing) -> Iterator[Finding]:
        played = [each for each in evidence.environments if not each.evaluation and each.calls]
        apart = [each for each in played if each.workers > 0]
        measured = evidence.yardstick.get("vector")
        if len(apart) != 1 or len(played) != 1 or measured is None:
            return
        environment = apart[0]
        serial = self._serial(evidence, environment, measured)
        if serial is None:
            return
        slices = evidence.of("waiting", "wrappers", where=_for_workers)
        seconds, instead = total(slices), serial * environment.steps
        speedup = evidence.speedup(seconds, instead)
        if instead > self.clearly * seconds or speedup < WORTH:
            return
        made = environment.created
        yield self.finding(
            f"{environment.workers} processes for {environment.name} are slower than one",
            where=stepped_at(slices) if made is None else Where(file=made[0], line=made[1]),
            seen=f"{lasting(seconds)} of waiting for them, {evidence.share(seconds):.0%} of the run: "
            f"{lasting(seconds / environment.calls)} for {environment.lanes} environments to step",
            expected=f"{lasting(serial * environment.lanes)}, one after the other in this process",
            help="use gymnasium.vector.SyncVectorEnv, or DummyVecEnv",
            confidence=0.8,
            severity=weight(speedup),
            speedup=speedup,
        )

    def _serial(self, timing: Timing, environment: Environment, measured: Measured) -> float | None:
        """Seconds for a step of one environment, in this process."""
        looked = [each for each in timing.windows if each.env_steps and each.began >= 0]
        steps, computed = sum(each.env_steps for each in looked), sum(each.children_cpu for each in looked)
        sync, hand_over = (measured.detail.get(name) for name in ("sync", "async"))
        if not steps or computed <= 0 or sync is None or hand_over is None:
            return None
        # Where a step costs next to nothing, all cores are busy with sending and receiving, half of it in the workers.
        answering = 0.5 * hand_over * min(timing.host.cores, environment.workers + 1)
        beyond = max(computed / steps - answering, 0.0)  # what CartPole takes, on which both were measured
        return max(sync + beyond, self.own * computed / steps, measured.detail.get("env_sync", 0.0))
