"""A trained network's output carries no graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.ownership import outermost
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class OutputWithoutGraph(Rule):
    """A network that an optimizer holds gives outputs without a graph.

    ## What it checks
    A network whose parameters an optimizer holds is called while gradients are on. In every such call what it returns
    carries no graph, and every loss misses at least as many parameters as it has. Exact.

    ## Why it matters
    No gradient ever gets into it: an encoder stays as it was made, at random. What comes after it still learns, so that
    the curve rises, and ends too low.

    ## Likely causes
    1. `forward` computes under `torch.no_grad()`, or ends in `.detach()`, `.data` or numpy. Confirm: print
       `network(x).requires_grad`.
    2. It was frozen on purpose, by no_grad. Confirm: then `requires_grad_(False)` says so, and no optimizer needs it.

    ## What to try first
    Take the `no_grad()` or `detach()` out of `forward`.

    ## When it is fine
    A network that was trained before and is to stay as it is. Say so with `requires_grad_(False)`: this is quiet then.

    ## References
    PyTorch, *Autograd mechanics*.
    """

    code: ClassVar[str] = "GRA303"
    name: ClassVar[str] = "output-without-graph"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    explains: ClassVar[tuple[str, ...]] = ("GRA003",)

    calls: int = 8  # while gradients are on
    audits: int = 2  # in which there are some

    def check(self, evidence: Script) -> Iterator[Finding]:
        losses = [each for _, each in evidence.events("loss")]
        if not losses:
            raise NotEnough("no loss was seen")
        for name, module in evidence.modules.items():
            if not module.get("owners") or not module.get("trainable"):
                continue
            seen = [(audit, each) for audit, each in evidence.events("call") if _counts(each, name)]
            if any(_attached(each) for _, each in seen):
                continue
            number = sum(int(each.get("calls") or 1) for _, each in seen)
            if number < self.calls or len({audit.number for audit, _ in seen}) < self.audits:
                continue
            outer = outermost(evidence, name)
            reached = [each for each in losses if {name, outer} & set(each.get("reached") or ())]
            if any(name == outer or int(each.get("missed") or 0) < int(module["trainable"]) for each in reached):
                continue
            yield self.finding(
                f"what {name} gives carries no graph: no loss can train it",
                where=seen[0][1].where,
                seen=f"{number} calls with gradients on, none of which gave an output with a graph; {len(losses)} "
                f"losses, none of which reaches its {module['trainable']} parameter tensors",
                expected="a graph from the loss to every network that an optimizer holds",
                help=f"look for no_grad() or detach() in the forward of {module.get('class') or name}",
                confidence=0.9,
            )
            return


def _counts(event: Event, name: str) -> bool:
    outputs = event.get("outputs") or ()
    return event["module"] == name and bool(event["grad"]) and any("float" in str(each["dtype"]) for each in outputs)


def _attached(event: Event) -> bool:
    return any(each["attached"] for each in event["outputs"])
