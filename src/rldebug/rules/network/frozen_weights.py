"""Weights get a gradient in every step and never move."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.evidence.tensors import TensorHistory, by_module, listed, tensor_histories
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class FrozenWeights(Rule):
    """Weights get a gradient in every step and never move.

    ## What it checks
    Parameter tensors that an optimizer owns, that have a gradient other than 0 at every detailed reading, and that
    are the same before and after each of those steps and from one reading to the next, while other tensors of the
    same optimizer do move.

    ## Why it matters
    A part of the network stays as it was initialised, and the rest learns around it.

    ## Likely causes
    1. A parameter group with a learning rate of 0. Confirm: print `lr` of every group; `optimizer/lr` shows the
       first.
    2. The tensors are written back after each step, by a copy, a clamp, a mask or a normalisation. Confirm: search
       for what assigns to them.
    3. Steps below the weights' last digit: half precision, or a group with a tiny learning rate. Confirm: their
       dtype.

    ## What to try first
    Print `lr` and the number of weights for each of the optimizer's parameter groups.

    ## When it is fine
    Layers frozen on purpose by a group with learning rate 0; set `requires_grad_(False)` on them instead.

    ## References
    PyTorch, `torch.optim` (per-parameter options). Yosinski et al., *How transferable are features in deep neural
    networks?*
    """

    code: ClassVar[str] = "NET005"
    name: ClassVar[str] = "frozen-weights"
    severity: ClassVar[Severity] = "warning"
    facts: ClassVar[tuple[str, ...]] = ("gradients",)
    follows: ClassVar[tuple[str, ...]] = ("GRA002", "GRA003", "GRA009", "OPT003", "NET003")
    trap: ClassVar[bool] = True
    aftermath: ClassVar[bool] = True

    details: int = 4  # detailed readings, all without a change
    span: int = 16  # updates that they must cover
    digits: float = -6.0  # log10 of step over weights; below it, single precision loses steps

    def check(self, evidence: Run) -> Iterator[Finding]:
        alone = len(evidence.readings) == 1
        groups = by_module(tensor_histories(evidence))
        details, span = (1, 0) if alone else (self.details, self.span)
        if not any(len(each) >= details and each.span >= span for own in groups.values() for each in own):
            raise NotEnough(f"fewer than {details} detailed readings of the weights, over {span} updates")
        moving = {
            optimizer
            for (optimizer, _), own in groups.items()
            if any(_moves(each) for each in own) and not self._minute(evidence, optimizer)
        }
        for (optimizer, module), own in groups.items():
            judged = [each for each in own if len(each) >= details and each.span >= span]
            frozen = [each for each in judged if _unmoved(each)]
            pushed = [each for each in frozen if (each["grad_absmax"] > 0).all()]
            if pushed and optimizer in moving:
                yield self._report(evidence, module, optimizer, pushed, len(own))

    def _minute(self, run: Run, optimizer: str) -> bool:
        """All steps of this optimizer are near the weights' last digit, and some tensors happen not to move."""
        ratio = run["step/log10_ratio" + (f"@{optimizer}" if optimizer else "")]
        return len(ratio.finite) > 0 and ratio.median() < self.digits

    def _report(self, run: Run, module: str, optimizer: str, tensors: list[TensorHistory], of: int) -> Finding:
        first = tensors[0]
        names = listed(each.name for each in tensors)
        return self.finding(
            f"{len(tensors)} of {of} {module} tensors never move",
            where=replace(
                run.call("update"), update=int(first.update[0]), env_step=int(first.env_step[0]), tensor=first.name
            ),
            seen=f"{names}: step of norm 0 with a gradient other than 0 at all of {len(first)} detailed readings "
            f"(updates {first.update[0]}–{first.update[-1]}), while others move"
            + (f"; optimizer {optimizer}" if optimizer else ""),
            expected="weights that change in the steps in which they have a gradient",
            help="print lr of each parameter group, and look for what writes these weights back",
            confidence=0.9,
        )


def _unmoved(tensor: TensorHistory) -> bool:
    return bool((tensor["step_norm"] == 0).all()) and tensor.still


def _moves(tensor: TensorHistory) -> bool:
    return bool(np.any(tensor["step_norm"] > 0))
