"""A gradient is used that was never computed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.lines import listed
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class GradientIsNone(Rule):
    """A gradient is used that was never computed.

    ## What it checks
    The program ended because the gradient of a parameter is None, or because `autograd.grad` was asked for a tensor
    that the loss does not use.

    ## Why it matters
    The loss does not reach that parameter, so it would not be trained.

    ## Likely causes
    1. The loss was detached from this network, or is another network's. Confirm: print which parameters have no
       gradient.
    2. The gradient is read before `backward()`, or after `zero_grad()`. Confirm: look at the order of the three lines.
    3. A head that this loss does not use is among the parameters. Confirm: the same.

    ## What to try first
    List the parameters whose `grad` is None after `backward()`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Autograd mechanics*.
    """

    code: ClassVar[str] = "GRA407"
    name: ClassVar[str] = "gradient-is-none"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        none = evidence.says("'NoneType' object has no attribute|unsupported operand type.*NoneType")
        line = evidence.at.source if evidence.at else ""
        return evidence.says("appears to not have been used in the graph") or (none and ".grad" in line)

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        graph = evidence.graph
        yield self.finding(
            _message(evidence),
            where=evidence.where,
            seen="; ".join(_seen(evidence)),
            expected="a loss that reaches every parameter whose gradient is read",
            help=_help(evidence),
            confidence=0.95 if graph else 0.85,
        )


def _message(crash: Crash) -> str:
    graph = crash.graph
    if graph.get("fault") == "unused" and graph.get("names"):
        loss = graph["loss"]["name"] or "the loss"
        return f"{loss} does not use {listed(graph['names'], graph['count'])}"
    if graph.get("name"):
        return f"the gradient of {graph['name']} is None"
    return "a gradient was used that was never computed"


def _seen(crash: Crash) -> Iterator[str]:
    yield f"{crash.said}, in `{crash.at.expression if crash.at else ''}`"
    graph = crash.graph
    if graph.get("fault") == "unused":
        reaches = listed(graph["reaches"]) or "nothing"
        yield f"{graph['count']} of {graph['of']} tensors are not used; the loss leads to {reaches}"
    elif graph.get("network"):
        yield f"{graph['without']} of {graph['of']} parameters of {graph['network']} have no gradient"
        if graph["frozen"]:
            yield f"{graph['frozen']} of them are frozen"


def _help(crash: Crash) -> str:
    graph = crash.graph
    if graph.get("fault") == "unused":
        return "give grad() the parameters that this loss uses, or allow_unused=True and take None as 0"
    if graph.get("leaf") is False:
        return f"{graph['name'] or 'it'} is computed, not a parameter: call retain_grad() on it before backward()"
    if graph.get("network") and graph["without"] == graph["of"]:
        network = graph["network"]
        return f"no parameter of {network} has one: call backward() before this line, on a loss that leads to {network}"
    if graph.get("network"):
        return "skip parameters without a gradient (if p.grad is not None), or use what they belong to in the loss"
    return "list the parameters whose grad is None after backward(), and follow the loss back to them"
