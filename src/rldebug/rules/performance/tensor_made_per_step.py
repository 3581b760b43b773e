"""Each step of the environment pays for many small conversions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.timing import WORTH, Slice, Timing, total
from rldebug.evidence.timings.amounts import env_calls, of_the_run
from rldebug.evidence.timings.libraries import CONVERSIONS
from rldebug.evidence.timings.loops import in_network
from rldebug.evidence.timings.telling import lasting, weight
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule

_WAITS = frozenset({".item", ".cpu", ".numpy", ".tolist"})
_ARRAYS = frozenset({"numpy.array", "numpy.asarray"})
_BETWEEN = ("step", "reset")


@dataclass(frozen=True, kw_only=True)
class TensorMadePerStep(Rule):
    """Each step of the environment pays for many small conversions.

    ## What it checks
    Time between two steps that is spent in `torch.tensor`, `torch.as_tensor`, `.item()`, `.cpu()`, `.numpy()`, `.to()`
    and their like, beside what one conversion of the observation and one of the action would take.

    ## Why it matters
    Each of them takes a microsecond or several, for four numbers as for a thousand. Reward, done flag, log-probability
    and value of each step, one by one, take more than the simulator of a small environment.

    ## Likely causes
    1. All that is kept of a step is made a tensor at that step. Confirm: count the conversions on the lines named.
    2. A list of numbers, not an array, is made a tensor. Confirm: print `type(obs)`.
    3. Numbers are taken out with `.item()` for statistics at each step. Confirm: take them out, and time again.

    ## What to try first
    Keep what the environment returns in arrays, and convert a whole rollout or batch at once. At each step convert the
    observation with `torch.from_numpy`, and the action with one `.numpy()` or `.item()`.

    ## When it is fine
    Next to a slow simulator; then nothing is said.

    ## References
    PyTorch, `torch.from_numpy` shares memory, `torch.tensor` copies.
    """

    code: ClassVar[str] = "PRF902"
    name: ClassVar[str] = "tensor-made-per-step"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Timing"

    otherwise: float = 0.5  # of the time is left, where it was not measured on this machine

    def check(self, evidence: Timing) -> Iterator[Finding]:
        waits = any(each.device != "cpu" and each.acting_rows for each in evidence.networks)
        kinds = (CONVERSIONS | _ARRAYS) - (_WAITS if waits else frozenset())  # these wait for the network on a GPU
        found = evidence.of(where=lambda each: _between_steps(each) and each.called in kinds)
        calls = env_calls(evidence)
        if not found or not calls:
            return
        seconds, measured = total(found), evidence.yardstick.get("conversion")
        cost = measured.detail if measured is not None else {}
        least = cost.get("as_tensor", 0.0) + cost.get("item", 0.0) + (measured.seconds if measured is not None else 0.0)
        instead = calls * least if measured is not None else self.otherwise * seconds
        speedup = evidence.speedup(seconds, instead)
        if speedup < WORTH:
            return
        named = dict.fromkeys(each.called for each in found)
        most = sorted(named, key=lambda name: -total(each for each in found if each.called == name))[:3]
        alone = all(each.lanes == 1 for each in evidence.environments if not each.evaluation)
        yield self.finding(
            "every step pays for many small conversions",
            where=evidence.where(found),
            seen=f"{lasting(seconds / calls)} per step in {', '.join(most)}; {of_the_run(evidence, seconds)}",
            expected="about half of it, with one conversion in and one out"
            if measured is None
            else f"{lasting(least)} on this machine: one torch.as_tensor, one .item(), the rest once per batch",
            help="keep what a step returns in arrays and convert them once per batch; at each step only "
            + ("the observation and the action" if alone else "the observations and the actions of all environments"),
            confidence=0.8,
            severity=weight(speedup),
            speedup=speedup,
        )


def _between_steps(piece: Slice) -> bool:
    between = piece.before in _BETWEEN and piece.after in _BETWEEN
    return between and not piece.inside and piece.part not in ("evaluation", "logging") and not in_network(piece)
