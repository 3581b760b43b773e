"""The statistics that observations are normalised by move on during the evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.batches import Call
from rldebug.forensics.worlds import evaluation_calls, evaluation_streams, name_of
from rldebug.rule import NotEnough, Rule

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class StatisticsMoveInEvaluation(Rule):
    """Normalisation statistics move on during the evaluation.

    ## What it checks
    Observations of an environment that is never learned from, beside what the network was given for them, within one
    evaluation and between two updates: a straight line of each element, but one that moves from step to step. No
    function of the observation alone explains it, and the number of the step does. Where a known wrapper around that
    environment does it (VecNormalize, NormalizeObservation), whether it is told to update.

    ## Why it matters
    The evaluation writes to what the training reads: mean and deviation drift to what a better policy sees, with no
    sample of it to learn from. A score depends on the episodes before it.

    ## Likely causes
    1. The function that normalises also updates, and is used in the evaluation as it is. Confirm: print the count of
       the statistics before and after an evaluation.
    2. The wrapper of the evaluation was not told to hold still. Confirm: look for `training = False`, or
       `update_running_mean = False`.

    ## What to try first
    Update the statistics in training only, and only apply them in the evaluation.

    ## When it is fine
    Never.

    ## References
    Seen in the wild: NRM-07 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "NRM305"
    name: ClassVar[str] = "statistics-move-in-evaluation"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "evaluation"

    steps: int = 60  # of one evaluation
    exact: float = 1e-4  # share of the spread that rounding may leave
    related: float = 0.9  # correlation of what is given with what is seen
    explained: float = 0.25  # of what functions of the observation leave, what the number of the step leaves

    def check(self, evidence: Script) -> Iterator[Finding]:
        told = self._told_to(evidence)
        if told:
            yield self.finding(
                "the environment of the evaluation updates its normalisation statistics",
                seen=told,
                expected="statistics that stand still while nothing is trained",
                help="training = False on the VecNormalize of the evaluation; with Gymnasium's wrapper, "
                "update_running_mean = False",
                confidence=0.85,
            )
            return
        groups: dict[tuple[int, str, int], list[Call]] = {}
        for call in evaluation_calls(evidence):
            if call.input is not None and call.event["match"] != "tag" and len(call.rows) == 1 and call.places[0] >= 0:
                groups.setdefault((call.audit.number, call.module, call.update), []).append(call)
        most = max(map(len, groups.values()), default=0)
        for (_, _, update), calls in groups.items():
            nodes = calls[0].audit.nodes
            seen = np.asarray(nodes.obs[[int(each.places[0]) for each in calls]], dtype=np.float64)
            inputs = [each.input for each in calls if each.input is not None]
            if len({each.shape[1:] for each in inputs}) != 1:  # a context that grows from step to step
                continue
            given = np.concatenate(inputs)
            if len(calls) < self.steps or seen.shape != given.shape or not np.isfinite(seen).all():
                continue
            moving = [each for each in range(seen.shape[1]) if self._moves(seen[:, each], given[:, each])]
            if moving:
                yield self.finding(
                    "observations are normalised by statistics that move on during the evaluation",
                    where=calls[0].event.where,
                    seen=f"what the network was given for element {', '.join(map(str, moving[:8]))} is a straight line "
                    f"of the observation that moves from step to step, in {len(calls)} steps of an evaluation at "
                    f"update {update}",
                    expected="statistics that stand still while nothing is trained",
                    help="update the statistics in training only; in the evaluation, apply them",
                    confidence=0.88,
                )
                return
        if most < self.steps:
            raise NotEnough(f"{most} steps of one evaluation were seen with what the network was given")

    def _told_to(self, script: Script) -> str:
        """A wrapper around it that updates, and has begun from statistics that are not its own."""
        chosen = evaluation_streams(script)
        for stream in script.streams:
            index, steps = int(stream["index"]), int(stream.get("steps") or 0)
            if index not in chosen or steps < self.steps:
                continue
            notes = [each for note in script.noted("normalisers") for each in note["environments"]]
            mine = [each for each in notes if each["stream"] == index]
            others = {each["kept"] for each in notes if each["stream"] != index}
            if not mine or not all(each["updates"] is True for each in mine[-2:]):
                continue
            shown = steps + int(stream.get("resets") or 0) * int(stream.get("lanes") or 1) + 2
            if mine[-1]["kept"] in others or (mine[-1]["count"] or 0) > shown:
                return (
                    f"{mine[-1]['what']} around {name_of(stream)}, in which {steps} steps were played and nothing was "
                    "learned, is told to update; it began with the statistics of training"
                )
        return ""

    def _moves(self, seen: Array, given: Array) -> bool:
        free = (given > given.min()) & (given < given.max())  # those at the bounds may be clipped
        x, y = seen[free], given[free]
        if len(x) < self.steps or x.std() < 1e-9 or y.std() < 1e-9:
            return False
        if abs(float(np.corrcoef(x, y)[0, 1])) < self.related:
            return False
        x = (x - x.mean()) / x.std()
        time = np.flatnonzero(free) / len(free)
        curve = [x**power for power in range(6)]
        left = _left(y, curve)
        if left < self.exact * float(y.std()) + 1e-6 * float(np.abs(y).max()):
            return False
        drift = [time**power * x**slope for power in (1, 2, 3) for slope in (0, 1)]
        return _left(y, [*curve, *drift]) < self.explained * left


def _left(values: Array, columns: list[Array]) -> float:
    """Deviation of what a straight sum of the columns leaves."""
    table = np.stack(columns, axis=1)
    rest = values - table @ np.linalg.lstsq(table, values, rcond=None)[0]
    return float(np.sqrt((rest**2).sum() / max(len(values) - len(columns), 1)))
