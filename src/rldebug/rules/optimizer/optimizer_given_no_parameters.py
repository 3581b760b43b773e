"""An optimizer is made for something that cannot be trained."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.lines import at, shown, sized
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class OptimizerGivenNoParameters(Rule):
    """An optimizer is made for something that cannot be trained.

    ## What it checks
    The constructor of an optimizer was given no parameters, or a tensor that is not a leaf.

    ## Why it matters
    It would never change anything.

    ## Likely causes
    1. Layers are kept in a Python list or dict, where `parameters()` does not find them. Confirm:
       `list(net.parameters())`; `nn.ModuleList` is found.
    2. The parameters are made after the optimizer. Confirm: look at the order.
    3. A tensor was moved or transformed after it was told to require a gradient: `torch.zeros(1,
       requires_grad=True).to(device)`. Confirm: its `is_leaf` is False.
    4. `parameters()` was used up: it is a generator, and gives nothing the second time. Confirm: make a list of it.

    ## What to try first
    Print `sum(p.numel() for p in net.parameters())` before the optimizer is made.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.optim`: constructing it; `torch.nn.ModuleList`.
    """

    code: ClassVar[str] = "OPT402"
    name: ClassVar[str] = "optimizer-given-no-parameters"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            "optimizer got an empty parameter list",
            "can't optimize a non-leaf Tensor",
            "optimizer can only optimize Tensors",
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        graph = evidence.graph
        name, made = str(graph.get("name", "")), graph.get("made")
        kept = graph.get("attribute") and f"{graph['network']}.{graph['attribute']}"
        message = "an optimizer was given nothing that it can train"
        help = "keep layers in nn.ModuleList, and make a lone parameter on its device before it requires a gradient"
        seen = operands_told(evidence)
        if kept:
            message = f"the layers of {kept} are in a plain {graph['type']}, where parameters() does not find them"
            seen = f"; {kept} holds {graph['count']} modules, made in {shown(evidence, made) or 'another place'}"
            better = "nn.ModuleDict" if graph["type"] == "dict" else "nn.ModuleList"
            help = f"make it self.{graph['attribute']} = {better}(…)"
        elif graph.get("used_up"):
            message = f"{graph['used_up']} is a generator that was used up: it gives no parameters the second time"
            seen = f"; made in {shown(evidence, made)}" if made else ""
            help = f"make a list of it: {graph['used_up']} = list(….parameters())"
        elif graph.get("network"):
            message = f"{graph['network']} has no parameters"
            seen = f"; {graph['network']}.parameters() gives nothing"
            help = "make its layers before the optimizer, as attributes of the module or in nn.ModuleList"
        elif graph.get("fault") == "tensor" and name:
            message = f"{name} is computed, not a parameter: an optimizer cannot train it"
            by = f" by {graph['by']}" if graph.get("by") else ""
            line = shown(evidence, made) or "another line"
            seen = f"; {sized(name, graph.get('shape'))} came out of an operation{by}, in {line}"
            help = f"make {name} on its device, and only then .requires_grad_(); compute from it in the loss"
        yield self.finding(
            message,
            where=at(evidence, made),
            seen=f"{evidence.said}{seen}",
            expected="the parameters of a network, or leaves that require a gradient",
            help=help,
            confidence=0.95,
        )
