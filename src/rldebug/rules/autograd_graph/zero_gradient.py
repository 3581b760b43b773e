"""All gradients of an optimizer, or of one network, are exactly zero."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.run import Run
from rldebug.evidence.tensors import TensorHistory, by_module, tensor_histories
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ZeroGradient(Rule):
    """All gradients of an optimizer, or of one network, are exactly zero.

    ## What it checks
    Every gradient an optimizer was given, or every gradient of one watched network, is exactly 0 at reading after
    reading, to the end of the run. This is not a small gradient but none: a path was cut or multiplied by 0. The
    first two updates do not count, and a network whose weights go on changing is trained in another step and stays
    quiet.

    ## Why it matters
    The network does not learn, while losses are computed, steps are taken and nothing complains.

    ## Likely causes
    1. The loss is constant in the parameters: the ratio is formed from one and the same log-prob twice, so that its
       gradients cancel. Confirm: `policy/log_ratio_absmax` is 0 in every reading, also in later epochs.
    2. The weight of every row is 0: advantages all 0, a mask that is inverted or empty, a coefficient of 0. Confirm:
       `advantage/min` and `advantage/max` are both 0, or the loss itself is exactly 0.
    3. Every row is on the flat side of a clip or a min/max: ratios far outside the clip range, `max` where `min` is
       meant, a clamp around the network's output. Confirm: `policy/clip_fraction` is 1.
    4. Dead or saturated units: no ReLU of a layer lets anything through, or a softmax, tanh or sigmoid is at its
       bound to the last digit. Confirm: `layers/dead` or `layers/saturated` is near 1, or the entropy is 0.
    5. Gradients are zeroed between `backward()` and `step()`. Confirm: look at the order of the three calls.

    ## What to try first
    Call `backward()` on each term of the loss alone, and print one parameter's gradient after each.

    ## When it is fine
    No reward has been seen yet, and only rewards make a gradient; or the loss has come down to exactly 0 and there is
    nothing left to learn. Both are notes. A zero-initialised last layer blocks the layers below it in the first
    update.

    ## References
    *dirty-rl* (a trap for all-zero gradients). Schulman et al., *Proximal Policy Optimization* (what clipping cuts
    off).
    """

    code: ClassVar[str] = "GRA002"
    name: ClassVar[str] = "zero-gradient"
    severity: ClassVar[Severity] = "error"
    needs: ClassVar[tuple[str, ...]] = ("grad/zero_tensors",)
    follows: ClassVar[tuple[str, ...]] = (
        "ENV510",
        "ADV514",
        "GRA006",
        "OPT004",
        "NET006",
        "VAL002",
        "ADV002",
        "OPT306",
        "OPT307",
        "OPT304",
        "OPT302",
        "GRA301",
        "GRA302",
        "OPT318",
        "NET304",
        "NET350",
        "NET351",
        "OPT351",
        "NET300",
    )
    trap: ClassVar[bool] = True
    aftermath: ClassVar[bool] = True

    settle: int = 2  # updates at the start that do not count
    readings: int = 8  # in a row, at the end of the run
    details: int = 4  # detailed readings in a row, at the end of the run, for one network
    share: float = 0.25  # of all readings that the row must make up
    span: int = 16  # updates that the detailed readings must cover

    def check(self, evidence: Run) -> Iterator[Finding]:
        if len(evidence.readings) == 1:
            yield from self._look(evidence)
            return
        judged, found = False, set()
        for series in evidence.each("grad/zero_tensors"):
            zero = series.finite
            late = zero.update >= self.settle
            value, update = zero.value[late], zero.update[late]
            if len(value) < self.readings:
                continue
            judged = True
            row = _trailing(value == 1.0)
            if row >= max(self.readings, self.share * len(value)):
                optimizer = series.name.partition("@")[2]
                found.add(optimizer)
                what = f"of optimizer {optimizer}" if optimizer else "of the optimizer"
                span = f"updates {update[-row]}–{update[-1]}"
                seen = f"{series.name} is 1 at the last {row} of {len(value)} readings, {span}"
                yield self._report(evidence, what, seen, int(update[-row]), row == len(value), None)
        for (optimizer, module), tensors in by_module(tensor_histories(evidence)).items():
            if optimizer in found:
                continue
            zero_module, row = self._row(tensors)
            if zero_module is None:
                continue
            judged = True
            if row >= max(self.details, self.share * len(zero_module)) and self._stopped(tensors):
                update = tensors[0].update
                seen = f"exactly 0 in all {len(tensors)} tensors of {module} at the last {row} detailed readings, "
                seen += f"updates {update[-row]}–{update[-1]}; their weights do not change"
                yield self._report(evidence, f"of the {module}", seen, int(update[-row]), row == len(update), module)
        if not judged:
            raise NotEnough(f"fewer than {self.readings} readings of the gradient")

    def _look(self, run: Run) -> Iterator[Finding]:
        """At one reading: a trap."""
        update = run.readings[0].update
        for series in run.each("grad/zero_tensors"):
            if series.last == 1.0:
                what = f"of optimizer {series.name.partition('@')[2]}" if "@" in series.name else "of the optimizer"
                yield self._report(run, what, f"{series.name} is 1 at update {update}", update, True, None)

    def _row(self, tensors: list[TensorHistory]) -> tuple[NDArray[np.bool_] | None, int]:
        if len(tensors) < 2 or len(tensors[0]) < self.details or tensors[0].span < self.span:
            return None, 0
        if any(len(each) != len(tensors[0]) for each in tensors):
            return None, 0
        zero = _zero(tensors)
        return zero, _trailing(zero)

    def _stopped(self, tensors: list[TensorHistory]) -> bool:
        ends = [each.last(self.details) for each in tensors]
        return ends[0].span >= self.span and all(each.still for each in ends)

    def _report(self, run: Run, what: str, seen: str, since: int, from_start: bool, tensor: str | None) -> Finding:
        excuse = _excuse(run, since, from_start)
        return self.finding(
            f"all gradients {what} are exactly zero" + (f": {excuse}" if excuse else ""),
            where=replace(run.call("update"), update=since, tensor=tensor),
            seen=seen,
            expected="some gradient other than 0 in every update",
            help="no reward, no gradient: check that the agent can reach a reward at all"
            if excuse
            else "call backward() on each loss term alone and print a gradient: the term that gives 0 is cut or masked",
            confidence=0.6 if excuse else 0.95,
            severity="note" if excuse else "error",
        )


def _zero(tensors: list[TensorHistory]) -> NDArray[np.bool_]:
    """Per reading: some tensors have a gradient, and all of those are 0."""
    largest = np.array([each["grad_absmax"] for each in tensors])
    there = ~np.isnan(largest)
    zero: NDArray[np.bool_] = there.any(0) & ((largest == 0) | ~there).all(0)
    return zero


def _trailing(held: NDArray[np.bool_]) -> int:
    """How long a condition has held, at the end."""
    missed = np.flatnonzero(~held)
    return len(held) if not len(missed) else len(held) - 1 - int(missed[-1])


def _excuse(run: Run, since: int, from_start: bool) -> str | None:
    """Why there may be nothing to learn from: no reward so far, or nothing left to learn."""
    if len(run.readings) == 1:
        return None
    rewards = [name for name in ("reward/min", "reward/max", "replay/reward_min", "replay/reward_max") if name in run]
    rewards = rewards or [name for name in ("episode/reward_sum",) if name in run]
    start = 0 if from_start else since
    if rewards and all((run[name].value[run[name].update >= start] == 0).all() for name in rewards):
        return "no reward other than 0 was seen"
    if from_start:
        return None
    losses = [series for name, series in run.series.items() if name in ("loss/policy", "loss/value", "loss/total")]
    late = [series.value[series.update >= since] for series in losses]
    if late and all(len(each) and (each == 0).all() for each in late):
        return "the loss is exactly 0 by now"
    entropy = run["policy/entropy"]
    late_entropy = entropy.value[entropy.update >= since]
    if "policy/entropy_max" in run and len(late_entropy) and (late_entropy < 1e-6).all():
        return "the policy has become deterministic"
    return None
