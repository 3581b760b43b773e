"""Parameters that an optimizer owns never get a gradient."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.evidence.tensors import TensorHistory, by_module, listed, tensor_histories
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class MissingGradient(Rule):
    """Parameters that an optimizer owns never get a gradient.

    ## What it checks
    A parameter tensor belongs to an optimizer, yet its gradient is None at every detailed reading, and its weights
    are the same at all of them (so nobody else trains it). Where the losses were handed over with their graphs, the
    rule looks whether one of them reaches the tensor. If so, that loss is never backpropagated: an error. If none
    does, the tensor is in no loss: a warning for a whole network, a note for a part of one.

    ## Why it matters
    The optimizer skips it in every step. A critic that stays at its first values still feeds every advantage.

    ## Likely causes
    1. The loss term is computed, perhaps logged, but not added to what `backward()` is called on. Confirm: the
       finding says that a loss reaches the tensors; look at the sum.
    2. The path is cut: `.detach()`, `.item()`, `.data`, numpy or `torch.no_grad()` between the network and the loss.
       Confirm: no loss reaches the tensors; `loss.grad_fn` of the term is None or does not lead to them.
    3. Gradients are set to None between `backward()` and `step()`. Confirm: look at the order of the calls.
    4. The layer is not used in `forward`, or only its old copy is. Confirm: put a print into its `forward`.

    ## What to try first
    After `backward()`, print the names of the parameters whose `.grad` is None.

    ## When it is fine
    A head that this algorithm does not use (a value head under plain REINFORCE): a note. A tensor whose weights
    change all the same gets its gradient in a step that is not recorded: quiet.

    ## References
    PyTorch, *Autograd mechanics*. PyTorch, `torch.optim.Optimizer.step` (parameters whose gradient is None are
    skipped).
    """

    code: ClassVar[str] = "GRA003"
    name: ClassVar[str] = "missing-gradient"
    severity: ClassVar[Severity] = "error"
    facts: ClassVar[tuple[str, ...]] = ("gradients",)
    follows: ClassVar[tuple[str, ...]] = (
        "GRA009",
        "OPT306",
        "OPT307",
        "OPT304",
        "GRA301",
        "GRA302",
        "OPT318",
        "NET304",
        "VAL391",
        "OPT350",
    )

    details: int = 4  # detailed readings, all without a gradient
    span: int = 16  # updates that they must cover

    def check(self, evidence: Run) -> Iterator[Finding]:
        tensors = tensor_histories(evidence)
        if not any(self._enough(each) for each in tensors):
            raise NotEnough(f"fewer than {self.details} detailed readings of the gradients, over {self.span} updates")
        reach = [value for _, value in evidence.facts("reach")]
        for (optimizer, module), owned in by_module(tensors).items():
            frozen = _frozen(evidence, module)
            if frozen is None:
                continue
            owned = [each for each in owned if each.name not in frozen]
            missing = [each for each in owned if self._enough(each) and _never(each)]
            used = {each.name: _reached_by(each, reach) for each in missing}
            dead = [each for each in missing if used[each.name]]
            idle = [each for each in missing if not used[each.name]]
            of = f" of optimizer {optimizer}" if optimizer else ""
            if dead:
                losses = sorted({loss for each in dead for loss in used[each.name]})
                yield self._report(
                    evidence, dead, len(owned), f"{module} parameters{of} that a loss reaches never get a gradient",
                    f"the {listed(losses)} loss reaches them",
                    f"add the {losses[0]} loss to what backward() is called on", "error", 0.95,
                )  # fmt: skip
            if idle:
                whole = len(idle) == len(owned)
                what = f"no parameter of the {module}{of} ever gets a gradient" if whole else (
                    f"{len(idle)} of {len(owned)} {module} parameter tensors{of} never get a gradient"
                )  # fmt: skip
                yield self._report(
                    evidence, idle, len(owned), what,
                    "no loss handed over reaches them" if reach else "no loss was handed over with its graph",
                    "look for a detach(), no_grad() or item() between these layers and the loss",
                    "warning" if whole else "note", 0.75,
                )  # fmt: skip

    def _enough(self, tensor: TensorHistory) -> bool:
        return len(tensor) >= self.details and tensor.span >= self.span

    def _report(
        self,
        run: Run,
        tensors: list[TensorHistory],
        of: int,
        message: str,
        why: str,
        help: str,
        severity: Severity,
        confidence: float,
    ) -> Finding:
        first = tensors[0]
        return self.finding(
            message,
            where=replace(run.call("update"), tensor=first.name),
            seen=f"no gradient at {len(first)} of {len(first)} detailed readings (updates {first.update[0]}–"
            f"{first.update[-1]}), weights unchanged: {listed(each.name for each in tensors)} "
            f"({len(tensors)} of {of} tensors); {why}",
            expected="a gradient for every parameter the optimizer owns",
            help=help,
            confidence=confidence,
            severity=severity,
        )


def _frozen(run: Run, module: str) -> set[str] | None:
    """Parameters that do not ask for a gradient; None where there are too many of them to have been listed."""
    names: set[str] = set()
    for _, value in run.facts("parameters"):
        frozen = value["modules"].get(module, {}).get("frozen", ())
        if len(frozen) >= 16:
            return None
        names.update(frozen)
    return names


def _never(tensor: TensorHistory) -> bool:
    return bool(np.isnan(tensor["grad_norm"]).all()) and tensor.still


def _reached_by(tensor: TensorHistory, reach: list[dict[str, Any]]) -> set[str]:
    """Losses that reach this tensor, as far as the lists of what they miss are complete."""
    found = set()
    for recording in reach:
        for loss, modules in recording.items():
            entry = modules.get(tensor.module)
            if (
                entry
                and entry["of"] - entry["reached"] == len(entry["missing"])
                and tensor.name not in entry["missing"]
            ):
                found.add(loss)
    return found
