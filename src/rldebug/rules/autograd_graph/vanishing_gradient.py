"""The first layers of a network get a gradient a million times smaller than the last."""

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
class VanishingGradient(Rule):
    """The first layer's gradient is a millionth of the last layer's.

    ## What it checks
    Within one network, the largest gradient entry of the first layer (its weights and its bias) against that of the
    last layer, at the detailed readings after the start. Gradients that are exactly 0 are another matter: see
    `zero-gradient` and `dead-units`.

    ## Why it matters
    What the last layer learns rests on features that stay as they were initialised. With plain SGD the first layers
    do not move at all; with Adam they move by noise.

    ## Likely causes
    1. Saturated sigmoid or tanh units, each of which lets only a small part of the gradient through. Confirm:
       `layers/saturated` is high, or `layers` shows outputs near the bounds.
    2. Many layers without skip connections or normalisation. Confirm: in the table `parameters` the gradient falls by
       about the same factor from layer to layer.
    3. An initialisation far too small. Confirm: `weight_std` in the table `parameters` is far below 1/√inputs.
    4. Observations of tiny size, so that the first weights get tiny gradients. Confirm: `obs/std`.

    ## What to try first
    Replace sigmoid by ReLU or tanh, initialise orthogonally, and scale the observations to about 1.

    ## When it is fine
    Just after a start from a zero or tiny last layer, which is why the first updates do not count.

    ## References
    Glorot and Bengio, *Understanding the difficulty of training deep feedforward neural networks*. He et al.,
    *Delving Deep into Rectifiers*.
    """

    code: ClassVar[str] = "GRA005"
    name: ClassVar[str] = "vanishing-gradient"
    severity: ClassVar[Severity] = "warning"
    facts: ClassVar[tuple[str, ...]] = ("gradients",)
    follows: ClassVar[tuple[str, ...]] = ("NET003", "NET004", "OPT004", "NET006")
    aftermath: ClassVar[bool] = True

    ratio: float = 1e6  # last layer over first
    settle: int = 4  # updates at the start that do not count
    details: int = 4  # detailed readings after that
    share: float = 0.75  # of them that must show it

    def check(self, evidence: Run) -> Iterator[Finding]:
        judged = False
        for (optimizer, module), tensors in by_module(tensor_histories(evidence)).items():
            layers = _layers(tensors)
            if len(layers) < 3:
                continue
            names = list(layers)
            first, last = _largest(layers[names[0]]), _largest(layers[names[-1]])
            update = layers[names[0]][0].update
            if len(first) != len(last):
                continue
            usable = (update >= self.settle) & np.isfinite(first) & np.isfinite(last) & (first > 0) & (last > 0)
            if np.count_nonzero(usable) < self.details:
                continue
            judged = True
            ratios = last[usable] / first[usable]
            if np.mean(ratios >= self.ratio) < self.share:
                continue
            middle = int(np.argsort(ratios)[len(ratios) // 2])
            low, high = first[usable][middle], last[usable][middle]
            yield self.finding(
                f"the gradient of the {module} vanishes on its way to the first layer",
                where=replace(
                    evidence.call("update"), update=int(update[usable][middle]), tensor=layers[names[0]][0].name
                ),
                seen=f"largest gradient entry {high:.2g} in {names[-1]}, {low:.2g} in {names[0]}, in a network of "
                f"{len(layers)} layers (median of {len(ratios)} detailed readings)"
                + (f", optimizer {optimizer}" if optimizer else ""),
                expected=f"within a factor of {self.ratio:.0e}",
                help="use ReLU or tanh instead of sigmoid, a scaled initialisation, and fewer layers",
                confidence=0.8,
            )
        if not judged:
            raise NotEnough(
                f"no network of three layers or more with {self.details} detailed readings of its gradients"
            )


def _layers(tensors: list[TensorHistory]) -> dict[str, list[TensorHistory]]:
    """Layers with a weight matrix, in order."""
    layers: dict[str, list[TensorHistory]] = {}
    for each in tensors:
        layers.setdefault(each.layer, []).append(each)
    return {name: each for name, each in layers.items() if any(np.isfinite(t["zero_rows"]).any() for t in each)}


def _largest(layer: list[TensorHistory]) -> NDArray[np.float64]:
    largest: NDArray[np.float64] = np.max(
        [np.nan_to_num(each["grad_absmax"], nan=0.0, posinf=np.inf) for each in layer], axis=0
    )
    return largest
