"""Layers of a network are kept where its parameters() does not find them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class LayersNotRegistered(Rule):
    """Layers are kept where `parameters()` does not find them.

    ## What it checks
    How many parameters each loss leads to, and how many of them belong to a network that was called, or to an
    optimizer. Two or more belong to neither, at every look, in losses that lead to a network as well.

    ## Why it matters
    They are never trained, never saved, and not moved to the GPU with the rest.

    ## Likely causes
    1. Layers are in a Python list or dict. Confirm: `print(net)` does not show them; use `nn.ModuleList`.
    2. Parameters are plain tensors, and were not given to the optimizer. Confirm: count what is in
       `optimizer.param_groups`.

    ## What to try first
    `nn.ModuleList`, `nn.ModuleDict` or `nn.Parameter`.

    ## When it is fine
    Tensors that are stepped by hand.

    ## References
    PyTorch, `torch.nn.ModuleList`.
    """

    code: ClassVar[str] = "NET305"
    name: ClassVar[str] = "layers-not-registered"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    tensors: int = 2  # a single one may be a temperature that is stepped by hand
    losses: int = 6  # of one line
    audits: int = 2  # in which they were seen

    def check(self, evidence: Script) -> Iterator[Finding]:
        every = [(audit.number, each) for audit, each in evidence.events("loss")]
        if any(each.get("asked") or each["how"] != "backward" for _, each in every) or evidence.noted("compile"):
            raise NotEnough("gradients are also taken by autograd.grad: a loss may lead to its inputs")
        lone = sum(int(each.get("missing") or 0) for each in evidence.optimizers.values())
        lines: dict[tuple[str, ...], list[tuple[int, Event]]] = {}
        for number, each in every:
            if each["reached"] and all(name in evidence.modules for name in each["reached"]):
                lines.setdefault((str(each.get("line")), *each["reached"]), []).append((number, each))
        lines = {key: each for key, each in lines.items() if len(each) >= self.losses}
        lines = {key: each for key, each in lines.items() if len({number for number, _ in each}) >= self.audits}
        if not lines:
            raise NotEnough(f"no loss was seen {self.losses} times in {self.audits} audits")
        for losses in lines.values():
            left = [self._left(evidence, each, lone) for _, each in losses]
            if min(left) >= self.tensors and min(left) == max(left):
                loss = losses[0][1]
                yield self.finding(
                    f"{left[0]} tensors that the loss leads to are in no network and no optimizer",
                    where=loss.where,
                    seen=f"it leads to {loss['parameters']} tensors, {len(left)} of {len(left)} times; {left[0]} of "
                    f"them are in parameters() of none of {', '.join(loss['reached'])}",
                    expected="layers that parameters() finds",
                    help="keep layers in nn.ModuleList or nn.ModuleDict, not in a Python list or dict",
                    confidence=0.85,
                )
                return

    def _left(self, script: Script, loss: Event, lone: int) -> int:
        known = sum(int(script.modules[name].get("trainable") or 0) for name in loss["reached"])
        if int(loss.get("missed") or 0) >= known:
            return 0  # nothing of the network itself: it is called with parameters that are kept elsewhere
        return int(loss.get("parameters") or 0) - (known - int(loss.get("missed") or 0)) - lone
