"""A loss leads to parameters that none of the given optimizers holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.graph import Graph
from rldebug.evidence.tensors import listed
from rldebug.finding import Finding, Severity, thousands
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TrainedParameterInNoOptimizer(Rule):
    """A loss leads to parameters that no optimizer holds.

    ## What it checks
    Every parameter that a graph ends in, against the groups of all optimizers. A warning where a loss leads to some of
    a module that no optimizer holds, and it is not passed through on the way to one that is held: nobody steps it. An
    error where an optimizer holds parameters that are in no module and in no loss instead: those of a copy.

    ## Why it matters
    Gradients are computed for them and thrown away. What stays at its first weights caps what the rest can learn.

    ## Likely causes
    1. The optimizer was made from one network's parameters only. Confirm: the finding names a whole network.
    2. A layer was added, or the network made anew, after the optimizer had been made. Confirm: compare `id(p)`.
    3. Layers in a plain list or dict are not found by `parameters()`. Confirm: use `nn.ModuleList`.
    4. A learned number, such as a temperature, was forgotten. Confirm: the finding names it.

    ## What to try first
    `print(rldebug.graph(loss, modules=…, optimizers=…))`: who owns what, module by module.

    ## When it is fine
    A target network or a reward model that is passed through: freeze it with `requires_grad_(False)`, which saves
    time.

    ## References
    PyTorch, `torch.optim` (constructing it).
    """

    code: ClassVar[str] = "OPT800"
    name: ClassVar[str] = "trained-parameter-in-no-optimizer"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Graph"
    follows: ClassVar[tuple[str, ...]] = (
        "OPT001",
        "OPT306",
        "OPT307",
        "OPT316",
        "OPT318",
        "ACT356",
        "VAL800",
        "TGT004",
    )

    def concerns(self, evidence: Graph) -> bool:
        return bool(evidence.losses)

    def check(self, evidence: Graph) -> Iterator[Finding]:
        if not evidence.optimizers:
            raise NotEnough("no optimizers were given")
        passed = _passed_through(evidence)
        strangers = evidence.signed("elsewhere")
        for unit in dict.fromkeys(each.unit for each in evidence.parameters if each.losses):
            own = [each for each in evidence.parameters if each.unit == unit and each.losses and each.trainable]
            loose = [each for each in own if not each.optimizers]
            if not loose or (unit in passed and not strangers):
                continue
            losses = " and ".join(loose[0].losses)
            count = thousands(sum(each.numel for each in loose))
            instead = ""
            if strangers:
                other = strangers[0]
                instead = f"; optimizer {other['optimizer']} holds {other['tensors']} tensors of no module and no loss"
            yield self.finding(
                f"{unit} is in no optimizer, and {losses} trains it",
                where=evidence.where(loose[0].losses[0], loose[0].name),
                seen=f"{count} weights ({listed([each.name for each in loose])}) are in none of "
                f"{', '.join(evidence.optimizers)}{instead}",
                expected="every parameter that a loss trains in exactly one optimizer",
                help="make the optimizer after the network, from that very object"
                if strangers
                else f"add the parameters of {unit} to an optimizer",
                severity="error" if strangers else "warning",
                confidence=0.9 if strangers else 0.8,
            )


def _passed_through(graph: Graph) -> set[str]:
    """Units beneath which lies one that an optimizer holds: a loss goes through them to train that one."""
    held = {i for i, box in enumerate(graph.boxes) if box.kind == "module" and box.optimizers}
    after: dict[int, set[int]] = {}
    for each in graph.arrows:
        after.setdefault(each.source, set()).add(each.target)
    todo, seen = list(held), set(held)
    while todo:
        for following in after.get(todo.pop(), ()):
            if following not in seen:
                seen.add(following)
                todo.append(following)
    return {graph.boxes[i].title for i in seen - held if graph.boxes[i].kind == "module"}
