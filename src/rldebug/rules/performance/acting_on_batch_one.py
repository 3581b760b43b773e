"""The network is asked for one action at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.timing import WORTH, Measured, Slice, Timing, total
from rldebug.evidence.timings.amounts import env_calls, of_the_run
from rldebug.evidence.timings.loops import down_to_network, in_network
from rldebug.evidence.timings.telling import lasting
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule

_BETWEEN = ("step", "reset")
_ALONG = (
    "copies",
    "buffer write",
    "other",
)  # done once for a row of eight as well; loops over time have advice of their own


@dataclass(frozen=True, kw_only=True)
class ActingOnBatchOne(Rule):
    """The network is asked for one action at a time.

    ## What it checks
    How much of the run goes into choosing actions, where one environment is played, that `gymnasium.make` could make
    several of; and what a row of eight costs the same network on this machine.

    ## Why it matters
    A small network takes about as long for eight rows as for one: nearly all of the time is spent in starting its
    operations. With eight environments in a vector, choosing actions takes about an eighth, and so does all else that
    is done in Python at each step.

    ## Likely causes
    1. The program plays a single environment. Confirm: the shape of the observation that the network is given.

    ## What to try first
    Play eight environments in a `gymnasium.vector.SyncVectorEnv`, with an eighth of the steps each. Rollouts then hold
    eight shorter pieces; for replay, keep the updates per step of the environment as they are.

    ## When it is fine
    Environments that exist once, and methods that have to learn after each step.

    ## References
    Clemente et al., *Efficient Parallel Methods for Deep Reinforcement Learning*.
    """

    code: ClassVar[str] = "PRF904"
    name: ClassVar[str] = "acting-on-batch-one"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Timing"

    share: float = 0.2  # of the run that goes into choosing actions, at least
    otherwise: float = 0.25  # of the time is left, where it was not measured on this machine
    clear: float = 1.3  # speed-up from which it is a warning: more has to be changed than a line
    often: float = 0.25  # updates per step from which learning goes on between all steps

    def check(self, evidence: Timing) -> Iterator[Finding]:
        played = [each for each in evidence.environments if not each.evaluation and each.calls]
        acting = evidence.of("acting")
        if len(played) != 1 or played[0].lanes != 1 or not played[0].spec or _many_rows(evidence, acting):
            return
        calls = env_calls(evidence)
        if evidence.share(total(acting)) < self.share or not calls:
            return
        along = total(evidence.of(*_ALONG, where=lambda each: _per_step(evidence, each)))
        seconds, measured = total(acting) + along, evidence.yardstick.get("acting")
        left = _left(measured)
        instead = total(acting) * (self.otherwise if left is None else left) + along / 8
        speedup = evidence.speedup(seconds, instead)
        if speedup < WORTH:
            return
        each_step = evidence.updates >= self.often * calls
        yield self.finding(
            "the network is asked for one action at a time",
            where=evidence.where([down_to_network(each) for each in acting if in_network(each)] or acting),
            seen=f"{lasting(total(acting) / calls)} per step to choose an action, "
            f"{of_the_run(evidence, total(acting))}"
            + (f"; what else is done once for each step takes {of_the_run(evidence, along)}" if along else ""),
            expected="about a quarter of it, for eight environments at once"
            if measured is None or left is None
            else f"{measured.what}: {lasting(measured.detail['1'])} for one row, "
            f"{lasting(measured.detail['8'])} for eight, on this machine",
            help=f'gymnasium.make_vec("{played[0].spec}", num_envs=8), an eighth of the steps for each',
            confidence=0.42 if each_step else 0.85,
            severity="warning" if speedup >= self.clear else "note",
            speedup=speedup,
        )


def _per_step(timing: Timing, piece: Slice) -> bool:
    """What is done once for each step: between two of them, or in a loop over them before learning."""
    return piece.before in _BETWEEN and piece.after in _BETWEEN


def _many_rows(timing: Timing, acting: list[Slice]) -> bool:
    """Planners, and ensembles of one observation, ask for many rows at once."""
    batches = total(each for each in acting if each.rows > 1)
    return batches > total(acting) / 2 or any(each.acting_rows > 1 for each in timing.networks)


def _left(measured: Measured | None) -> float | None:
    """What a row of eight costs beside a row alone."""
    if measured is None or not measured.detail.get("1") or "8" not in measured.detail:
        return None
    return measured.detail["8"] / 8 / measured.detail["1"]
