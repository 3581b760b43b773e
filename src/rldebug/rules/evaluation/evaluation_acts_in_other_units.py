"""The evaluation executes what the network says in other units than training does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.batches import Call, calls_of
from rldebug.forensics.roles import roles_of
from rldebug.forensics.worlds import Stream, evaluation_calls, fact
from rldebug.rule import NotEnough, Rule

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class EvaluationActsInOtherUnits(Rule):
    """The evaluation scales actions otherwise than training does.

    ## What it checks
    A network that says the action itself: by how much the executed action grows with what it says, in training and in
    environments that are never learned from. In the evaluation actions follow an output exactly, by another factor than
    they follow any output in training.

    ## Why it matters
    The policy that is scored pushes half as hard, or twice as hard, as the one that was learned.

    ## Likely causes
    1. The evaluation hands the action on without the scaling of the training loop. Confirm: print what `step` is given
       in both.
    2. A wrapper that rescales actions is around one of the environments. Confirm: print both.

    ## What to try first
    Scale actions in one place: in the network, or in a wrapper that both environments have.

    ## When it is fine
    Never.

    ## References
    Seen in the wild: ACT-22 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "EVA358"
    name: ClassVar[str] = "evaluation-acts-in-other-units"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "evaluation"

    steps: int = 40  # of each
    exact: float = 0.9  # share of steps of the evaluation that follow the output by one factor
    apart: float = 1.4  # factor between the two
    sure: float = 6.0  # deviations that the factor of training is away
    explained: float = 0.9  # share of the variance in training that an output explains, for it to count
    unclipped: float = 0.8  # share of steps in training: noise that is cut off makes the slope too small

    def check(self, evidence: Script) -> Iterator[Finding]:
        stream = roles_of(evidence).stream
        mine = next((each for each in evidence.streams if int(each["index"]) == stream), {})
        alike = {int(each["index"]) for each in evidence.streams if _same(each, mine)}
        tests = [each for each in evaluation_calls(evidence) if _stream(each) in alike]
        known = {id(each) for each in tests}
        trained = [
            each
            for each in calls_of(evidence)
            if each.event.get("acting") and id(each) not in known and each.update and _stream(each) == stream
        ]
        most = 0
        for module in {each.module for each in tests} & {each.module for each in trained}:
            played = _followed([each for each in tests if each.module == module])
            acted = _followed([each for each in trained if each.module == module])
            most = max([most, *(min(len(a[0]), len(b[0])) for a in played.values() for b in acted.values())])
            factors = [each for pair in played.values() if (each := self._exact(*pair)) is not None]
            others = [found for pair in acted.values() if (found := self._factor(*pair)) is not None]
            if factors and others and all(self._differ(one, *two) for one in factors for two in others):
                yield self.finding(
                    "the evaluation executes actions in other units than training",
                    where=next(each for each in tests if each.module == module).event.where,
                    seen=f"executed actions are {factors[0]:.3g} times what {module} says in the evaluation, and "
                    f"{others[0][0]:.3g} times in training",
                    expected="the same scaling in both",
                    help="scale actions in one place that both go through",
                    confidence=0.88,
                )
                return
        if most < self.steps:
            raise NotEnough(f"what a network said was seen with what was executed in {most} steps of both")

    def _exact(self, said: Array, done: Array) -> float | None:
        free = _inside(said, done)
        if free.sum() < self.steps:
            return None
        factor = float(np.median(done[free] / said[free]))
        fits = np.abs(done - factor * said)[free] <= 1e-4 * (1 + np.abs(done[free]))
        return factor if float(fits.mean()) >= self.exact else None

    def _factor(self, said: Array, done: Array) -> tuple[float, float] | None:
        """How fast the action grows with the output, and how well that is known."""
        free = _inside(said, done)
        x, y = said[free], done[free]
        if len(x) < self.steps or x.std() < 1e-6 or free.mean() < self.unclipped:
            return None
        slope, shift = np.polyfit(x, y, 1)
        rest = float((y - slope * x - shift).var())
        if rest > (1 - self.explained) * float(y.var()):
            return None
        return float(slope), float(np.sqrt(rest / len(x)) / x.std())

    def _differ(self, test: float, trained: float, error: float) -> bool:
        if abs(test - trained) < self.sure * error or test * trained <= 0:
            return False
        return max(test / trained, trained / test) > self.apart


def _same(stream: Stream, mine: Stream) -> bool:
    """Of one kind, in the same wrappers: these may rescale actions too."""
    return all(fact(stream, name) == fact(mine, name) for name in ("class", "wrappers", "action_low", "action_high"))


def _stream(call: Call) -> int:
    places = call.places[call.known]
    return int(call.audit.nodes.stream[places[0]]) if len(places) else -1


def _inside(said: Array, done: Array) -> NDArray[np.bool_]:
    """Steps that are not clipped, and say something."""
    wide = np.abs(done) < 0.95 * np.abs(done).max(initial=0.0)
    return np.asarray(wide & (np.abs(said) > 1e-2 * np.abs(said).max(initial=0.0)))


def _followed(calls: Sequence[Call]) -> dict[int, tuple[Array, Array]]:
    """For each output as wide as an action: what it said and what was executed, all elements in a row."""
    found: dict[int, tuple[list[Array], list[Array]]] = {}
    for call in calls:
        nodes = call.audit.nodes
        rows = call.event.arrays.get("rows")
        if len(call.rows) != 1 or call.places[0] < 0 or not nodes.acted[call.places[0]] or rows is None:
            continue
        orders = call.event.arrays.get("orders")
        mine = orders == call.order if orders is not None and len(orders) == len(rows) else np.ones(len(rows), bool)
        action = nodes.action[call.places[0]]
        for number in range(4):
            output = call.event.arrays.get(f"output{number}")
            if output is None or output.ndim != 2 or len(output) != len(rows) or output.shape[1] != len(action):
                continue
            if np.isfinite(action).all() and (action != np.round(action)).any():
                said, done = found.setdefault(number, ([], []))
                said.append(np.asarray(output[mine][0], dtype=np.float64))
                done.append(np.asarray(action, dtype=np.float64))
    return {number: (np.concatenate(said), np.concatenate(done)) for number, (said, done) in found.items()}
