"""A graph is asked for its gradient a second time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.lines import SITES, at, listed, shown, sized
from rldebug.evidence.crashes.signs import told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class BackwardTwice(Rule):
    """A graph is asked for its gradient a second time.

    ## What it checks
    The program ended with PyTorch's error that a graph was gone through twice: the first `backward()` had freed it.

    ## Why it matters
    Something that should be data still carries the graph of the pass that made it. `retain_graph=True` silences the
    error, and then gradients flow into an old pass of the network, with weights that have changed since.

    ## Likely causes
    1. Values or log-probs were stored with their graph while acting, and are used in more than one update. Confirm:
       `requires_grad` of what comes out of the buffer is True.
    2. Two losses share one forward pass, or one loss reaches into another's, as an advantage that is not detached does;
       each is then propagated by itself. Confirm: add the losses, and call `backward()` once.
    3. A recurrent state goes from one update into the next with its graph. Confirm: detach it where an update begins.
    4. Old log-probs or targets are computed once, before the epochs, and not detached. Confirm: `requires_grad`.
    5. A loss is kept from one iteration to the next and added to. Confirm: it is made anew in each iteration.

    ## What to try first
    Collect under `torch.no_grad()`, and detach what is data in a loss: advantages, targets, old log-probs.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Autograd mechanics*.
    """

    code: ClassVar[str] = "GRA401"
    name: ClassVar[str] = "backward-twice"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            r"backward through the graph a second time|saved tensors after they have already been freed"
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        graph = evidence.graph
        name, pattern = str(graph.get("name", "")), str(graph.get("pattern", ""))
        yield self.finding(
            "two losses of one forward pass go backward one after the other: the first has freed what they share"
            if graph.get("one_pass")
            else _MESSAGES.get(pattern, "a graph was asked for its gradient a second time").format(name=name),
            where=at(evidence, graph.get("first") if graph.get("one_pass") else graph.get("made")),
            seen="; ".join(_seen(evidence)),
            expected="each backward() to go through a forward pass of its own",
            help=f"{_help(evidence, name, pattern)}; retain_graph=True only hides it",
            confidence=0.95,
        )


_MESSAGES = {
    "collected": "{name} was collected with its graph, and is gone through a second time",
    "not emptied": "{name} is not emptied: it holds the graphs of earlier updates",
    "kept": "{name} was computed once, and is gone through by every backward()",
    "two losses": "two losses go through one forward pass, that of {name}",
    "recurrent state": "the recurrent state {name} carries the graph of an earlier update",
    "handed on": "{name} is handed on from the pass before, with its graph",
    "sum": "{name} is added to without end: it carries the graphs of earlier updates",
    "same loss": "backward() was called on {name} twice",
}


def _seen(crash: Crash) -> Iterator[str]:
    yield crash.said
    graph = crash.graph
    if graph.get("made"):
        leads = f", leads to {listed(graph['networks'])}" if graph.get("networks") else ""
        count = f", {graph['count']} tensors" if graph.get("count", 1) > 1 else ""
        source = f", from {graph['source']}" if graph.get("source") else ""
        yield f"{sized(graph['name'], graph.get('shape'))}{count}{leads}, made in {shown(crash, graph['made'])}{source}"
    else:
        stored = [
            f"{name} {told(fact)}"
            for _, name, fact in crash.held("tensor")
            if fact.get("ops") and fact["shape"] and name not in crash.operands()
        ]
        if stored:
            yield f"carrying a graph: {', '.join(stored[:3])}"
    if first := graph.get("first"):
        again = ", in an earlier pass" if first.get("again") else ""
        yield f"first backward(): {shown(crash, first)}{again}"


def _help(crash: Crash, name: str, pattern: str) -> str:
    graph = crash.graph
    line = f"line {graph['made']['line']}" if graph.get("made") else ""
    others = [each for each in graph.get("others", ()) if each["name"] != name]
    every = [name, *(each["name"] for each in others)]
    if pattern in ("collected", "kept") and graph.get("data"):
        for each in others:
            line += f", line {each['line']} ({each['name']})"
        are = f"{name} is" if not others else f"{' and '.join(every)} are"
        source = f"; or make {graph['source']} without a graph" if graph.get("source") else ""
        return f"{are} data in this loss: put {line} under torch.no_grad(), or write .detach() there{source}"
    if pattern == "collected":
        return f"store observations and actions instead, and compute {name} anew from the network for each backward()"
    if pattern == "kept":
        return f"move {line} into the loop, so that {name} is computed anew for each backward()"
    detach = graph.get("detach") or {}
    if detach.get("loss"):
        cut = " and ".join(f"{each}.detach()" for each in every)
        return f"give {detach['loss']} {cut}: what its optimizer trains is not reached through {' or '.join(every)}"
    if detach.get("neither"):
        return "add the losses and call backward() once, or compute the shared part anew for the second loss"
    if pattern == "two losses":
        return f"add the losses and call backward() once, or give one of them {name}.detach()"
    if pattern == "recurrent state" and graph.get("parts"):
        return f"detach it where an update begins: {name} = tuple(each.detach() for each in {name})"
    if pattern == "recurrent state":
        return f"detach it where an update begins: {name} = {name}.detach(), each part of it if it is a tuple"
    if pattern == "not emptied":
        return f"empty {name} after each update, as {name}.clear() does for a list"
    if pattern == "handed on":
        return f"write .detach() in {line}, or compute {name} anew where it is used"
    if pattern == "sum":
        return f"begin {name} anew in each iteration; a number for the log is added as loss.item()"
    if pattern == "same loss":
        return f"compute {name} anew before the second backward(), or leave out one of the two"
    known = "" if not crash.frames or crash.graph.get("made") else f" ({SITES})"
    return f"collect under torch.no_grad(), and detach what is data in a loss{known}"
