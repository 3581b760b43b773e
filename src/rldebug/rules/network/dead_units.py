"""Nearly all units of a layer are off on every row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.run import Run
from rldebug.evidence.tensors import TensorHistory, by_module, tensor_histories
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule

_DEAD = 3  # column of the table `layers`


@dataclass(frozen=True, kw_only=True)
class DeadUnits(Rule):
    """Nearly all units of a layer are off on every row.

    ## What it checks
    Two things, over the detailed readings at the end of the run. In a rectifying layer (ReLU and its like, as
    modules): the share of units that are 0 on the whole batch. And where rectifiers are called as functions: the
    share of a hidden layer's rows whose gradient is exactly 0, in batches of 16 rows and more.

    ## Why it matters
    A rectifier that is off on every row passes no gradient, so it cannot come back. A layer with few units left is a
    bottleneck; one with none cuts off all layers before it.

    ## Likely causes
    1. A learning rate that is too high has thrown the biases far below 0. Confirm: `step/log10_ratio` was above −1
       before the share rose.
    2. Inputs of large size: raw pixels, positions in the thousands, rewards in the observation. Confirm: `obs/max`.
    3. An initialisation with negative biases, or far too wide. Confirm: the share is high at update 0.
    4. Targets that move a lot make units die one by one over a long run. Confirm: the share rises slowly.

    ## What to try first
    Divide the learning rate by 10 and scale the observations to about 1; if it stays, use a leaky rectifier or layer
    normalisation.

    ## When it is fine
    Observations that are the same on every row switch the same units off on every row: the rule does not judge them.

    ## References
    Lu et al., *Dying ReLU and Initialization*. Sokar et al., *The Dormant Neuron Phenomenon in Deep Reinforcement
    Learning*.
    """

    code: ClassVar[str] = "NET003"
    name: ClassVar[str] = "dead-units"
    severity: ClassVar[Severity] = "warning"
    follows: ClassVar[tuple[str, ...]] = ("OPT004", "NET004", "NET006", "OPT008")
    trap: ClassVar[bool] = True
    aftermath: ClassVar[bool] = True

    share: float = 0.9  # of the units of a layer
    details: int = 4  # detailed readings in a row, at the end of the run
    rows: int = 16  # of a batch; on fewer, units are off by chance

    def check(self, evidence: Run) -> Iterator[Finding]:
        alone = len(evidence.readings) == 1
        layers = _layers(evidence)
        tensors = tensor_histories(evidence)
        if _constant(evidence):
            raise NotEnough("the observations are the same on every row")
        enough = 1 if alone else self.details
        if not any(len(each[0]) >= enough for each in layers.values()) and not any(
            len(each) >= enough for each in tensors
        ):
            raise NotEnough(f"fewer than {enough} detailed readings of the layers")
        found: dict[str, list[str]] = {}
        for name, (_, _, dead) in layers.items():
            if len(dead) >= enough and (dead[-enough:] > self.share).all():
                found.setdefault(name.partition(".")[0], []).append(name)
        for names in found.values():
            name = names[0]
            update, env_step, dead = layers[name]
            since = _since(dead > self.share)
            yield self.finding(
                f"{dead[-1]:.0%} of the units of {name} are dead",
                where=replace(
                    evidence.call("update"), update=int(update[since]), env_step=int(env_step[since]), tensor=name
                ),
                seen=f"{dead[-1]:.0%} of its units are 0 on the whole batch, {dead[0]:.0%} at the start; above "
                f"{self.share:.0%} at the last {len(dead) - since} of {len(dead)} detailed readings"
                + (f"; so are {len(names) - 1} more layers" if len(names) > 1 else ""),
                expected=f"at most {self.share:.0%}, and usually below half",
                help="divide the learning rate by 10 and scale the observations to about 1",
                confidence=0.85,
            )
        if not alone and evidence["batch/rows"].finite.median() >= self.rows:
            yield from self._without_modules(evidence, tensors, found, enough)

    def _without_modules(
        self, run: Run, tensors: list[TensorHistory], found: Mapping[str, list[str]], enough: int
    ) -> Iterator[Finding]:
        """Rectifiers called as functions: their layer's rows get a gradient of exactly 0."""
        for (_, module), own in by_module(tensors).items():
            if module in found or not any((each["grad_absmax"] > 0).any() for each in own):
                continue
            for each in _hidden(own):
                zero = each["zero_rows"]
                if len(zero) < enough or not (zero[-enough:] > self.share).all():
                    continue
                if zero[-1] == 1.0 and not _at_rest(each):
                    continue  # trained in another step than the one that is recorded
                since = _since(zero > self.share)
                yield self.finding(
                    f"{zero[-1]:.0%} of the units of {each.layer} get no gradient",
                    where=replace(
                        run.call("update"),
                        update=int(each.update[since]),
                        env_step=int(each.env_step[since]),
                        tensor=each.name,
                    ),
                    seen=f"the gradient of {zero[-1]:.0%} of its rows is exactly 0 at the last {len(zero) - since} of "
                    f"{len(zero)} detailed readings (first: {zero[0]:.0%})",
                    expected=f"at most {self.share:.0%}, and usually below half",
                    help="look at the activations behind this layer: units that are off on every row are dead",
                    confidence=0.75,
                )
                break


def _layers(run: Run) -> dict[str, tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]]:
    """Per layer that can be dead: update, env step and share of dead units."""
    rows: dict[str, list[tuple[int, int, float]]] = {}
    for reading, table in run.table("layers"):
        for name, cells in table.items():
            if len(cells) > _DEAD and np.isfinite(cells[_DEAD]):
                rows.setdefault(name, []).append((reading.update, reading.env_step, cells[_DEAD]))
    return {
        name: (
            np.array([each[0] for each in seen], dtype=np.int64),
            np.array([each[1] for each in seen], dtype=np.int64),
            np.array([each[2] for each in seen], dtype=np.float64),
        )
        for name, seen in rows.items()
    }


def _hidden(tensors: list[TensorHistory]) -> list[TensorHistory]:
    """Weight matrices whose outputs are the inputs of a later layer: not heads, whose rows wait for their action."""
    sizes = {each.name: each.size for each in tensors}
    shapes: list[tuple[TensorHistory, float, float]] = []
    for each in tensors:
        outputs = sizes.get(f"{each.layer}.bias", np.nan)
        # The size of a tensor that is all zero is not known.
        known = np.isfinite(outputs) and np.isfinite(each.size)
        if each.name.endswith(".weight") and known and np.isfinite(each["zero_rows"]).any():
            shapes.append((each, round(outputs), round(each.size / round(outputs)) if outputs >= 0.5 else 0))
    return [
        each
        for i, (each, outputs, _) in enumerate(shapes)
        if any(inputs and inputs % max(outputs, 1) == 0 and outputs > 1 for _, _, inputs in shapes[i + 1 :])
    ]


def _at_rest(tensor: TensorHistory) -> bool:
    """Not changed between the last two readings, or by no more than what is left of the optimizer's momentum."""
    left = tensor["step_norm"][-1] / max(tensor["weight_norm"][-1], 1e-30)
    return tensor.last(2).still or bool(0 < left < 1e-5)


def _constant(run: Run) -> bool:
    low, high = run["obs/min"].finite, run["obs/max"].finite
    return bool(len(low) and len(low) == len(high) and (low.value == high.value).all())


def _since(held: NDArray[np.bool_]) -> int:
    """Index from which on a condition has held, to the end."""
    missed = np.flatnonzero(~held)
    return int(missed[-1]) + 1 if len(missed) else 0
