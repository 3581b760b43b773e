"""A tensor is changed before backward() has used it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.lines import at, shown, sized
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ChangedBeforeBackward(Rule):
    """A tensor is changed before backward() has used it.

    ## What it checks
    The program ended with PyTorch's error that a tensor which the gradient needs was modified in place.

    ## Why it matters
    The gradient would be that of other numbers than the loss was computed from. PyTorch notices, older versions did
    not.

    ## Likely causes
    1. An optimizer steps between computing a loss and its `backward()`: the step changes weights that the other loss
       was computed with. Confirm: the shape in the message is that of a weight.
    2. An operation in place on an activation, an action or a recurrent state: `+=`, `clamp_`, writing into a slice.
       Confirm: run once under `torch.autograd.set_detect_anomaly(True)`; it names the line.
    3. A tensor with a graph was written into a buffer that is written again. Confirm: `requires_grad` of the buffer.

    ## What to try first
    Compute each loss after the previous step, or call every `backward()` before the first `step()`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Autograd mechanics*.
    """

    code: ClassVar[str] = "GRA402"
    name: ClassVar[str] = "changed-before-backward"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says("modified by an inplace operation")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        graph = evidence.graph
        network = str(graph.get("network", "")) or _owner(evidence)
        name, optimizer = str(graph.get("name", "")), str(graph.get("optimizer", ""))
        stale = graph.get("stale") or {}
        if stale and optimizer:
            message = (
                f"{stale['name']} is of an earlier pass: {optimizer}.step() has changed {network or 'a network'} since"
            )
        elif graph.get("what") == "weight" and optimizer:
            message = f"{optimizer}.step() changed {network or 'a network'} before this loss was propagated"
        elif network:
            message = f"weights of {network} were changed between the forward pass and backward()"
        else:
            message = f"{name or 'a tensor'} was changed in place between the forward pass and backward()"
        yield self.finding(
            message,
            where=at(evidence, stale if stale.get("pattern") == "handed on" else graph.get("changed")),
            seen="; ".join(_seen(evidence, network)),
            expected="what a loss was computed from to stay as it was until its backward()",
            help=_help(evidence, network),
            confidence=0.95,
        )


_ANOMALY = "torch.autograd.set_detect_anomaly(True) shows the line of the forward pass that needs it unchanged"


def _owner(crash: Crash) -> str:
    """The type of a network in reach that has a weight of that shape."""
    found = re.search(r"\[torch\.\S+ \[([\d, ]*)\]\]", crash.message)
    shape = [int(each) for each in found.group(1).replace(" ", "").split(",") if each] if found else None
    if not shape or crash.graph.get("what") == "tensor":
        return ""
    weights = {tuple(each): fact["type"] for _, _, fact in crash.held("network") for each in fact.get("shapes", [])}
    # A linear layer saves its weight turned round.
    return str(weights.get(tuple(shape), weights.get(tuple(reversed(shape)), "")))


def _seen(crash: Crash, network: str) -> Iterator[str]:
    yield crash.said
    graph = crash.graph
    if graph.get("name"):
        versions = f", changed {graph['version'] - graph['kept']} times since" if graph.get("version") else ""
        yield f"the tensor is {sized(graph['name'], graph.get('shape'))}{versions}".replace("1 times", "once")
    elif network:
        yield f"a weight of {network} has that shape"
    if graph.get("changed"):
        yield f"changed in {shown(crash, graph['changed'])}{' in the pass before' if graph.get('last_pass') else ''}"
    for each in graph.get("then", ()):
        yield f"again in {shown(crash, each)}"
    if graph.get("stale"):
        yield f"{graph['stale']['name']} was made in {shown(crash, graph['stale'])}"
    if graph.get("made"):
        yield f"the loss was made in {shown(crash, graph['made'])}"


def _renewed(stale: Mapping[str, Any], loss: str) -> str:
    """What to do with that which an earlier pass of the loop has made."""
    name, pattern = stale["name"], stale["pattern"]
    if pattern == "handed on":
        return (
            f"compute {name} anew with the weights as they are now, instead of taking it over in line {stale['line']}"
        )
    if pattern in ("recurrent state", "sum"):
        return f"detach {name} where a pass begins, or {loss} reaches into the pass before; leave out retain_graph=True"
    return (
        f"all of {name} was computed with the weights of before the loop: add up the losses of the loop, and call "
        "backward() and step() once after it; or compute it anew in each pass"
    )


def _help(crash: Crash, network: str) -> str:
    graph = crash.graph
    loss = str(graph.get("loss", {}).get("name", "")) or "this loss"
    if stale := graph.get("stale"):
        return _renewed(stale, loss)
    if graph.get("retained") and graph.get("last_pass"):
        return f"{loss} still reaches into the pass before: detach what is carried over, leave out retain_graph=True"
    if graph.get("last_pass"):
        return (
            f"{loss} was computed from something of the pass before, of the weights as they were then: compute that "
            "anew, or detach it where it is data"
        )
    if graph.get("optimizer") and graph.get("changed"):
        line = graph["changed"]["line"]
        return f"compute {loss} below line {line}, or call every backward() before the first step(); detach nothing"
    if network:
        return "compute this loss after the optimizer step of the other one, or call every backward() before it"
    if graph.get("by"):
        every = " and of ".join([graph["by"], *(each["by"] for each in graph.get("then", ()))])
        return f"make a new tensor instead of {every} in place, as x = x + y does for x += y"
    further = "" if graph.get("changed") or not crash.frames else f"; {_ANOMALY}"
    return f"replace the operation in place (x += y) by one that makes a new tensor (x = x + y){further}"
