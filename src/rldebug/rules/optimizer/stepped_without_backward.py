"""An optimizer is cleared and stepped, and no line calls backward()."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.flow import same
from rldebug.syntax.names import receiver
from rldebug.syntax.training import blocks, events, handed_over, networks_in, optimizers, steps_of

_OTHERWISE = re.compile(r"backward|^grad$|autograd|functorch|vjp|jax")


@dataclass(frozen=True, kw_only=True)
class SteppedWithoutBackward(Rule):
    """An optimizer is cleared and stepped, and no line calls backward().

    ## What it checks
    An optimizer that is made in this file sees `zero_grad()` and then `step()` in one block, and the file never says
    `backward`, `.grad` or `autograd`; nobody else is handed the optimizer. Read from the source.

    ## Why it matters
    There are no gradients: `step()` passes every parameter over, in silence, and nothing is learned.

    ## Likely causes
    1. `loss.backward()` is missing. Confirm: read the lines between the two.

    ## What to try first
    `loss.backward()` between `zero_grad()` and `step()`.

    ## When it is fine
    Where a function of another file is handed the loss and calls it.

    ## References
    PyTorch, *Optimizing model parameters*.
    """

    code: ClassVar[str] = "OPT649"
    name: ClassVar[str] = "stepped-without-backward"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("OPT003", "OPT010", "GRA003")

    def check(self, evidence: Source) -> Iterator[Finding]:
        if any(_OTHERWISE.search(each) for each in _names(evidence)):
            return
        for optimizer in optimizers(evidence):
            if networks_in(evidence, optimizer.parameters) is None or handed_over(evidence, optimizer):
                continue
            for step in steps_of(evidence, optimizer):
                if step.args or step.keywords or not _cleared_first(evidence, step):
                    continue
                yield self.finding(
                    f"{optimizer.name} steps, and no line calls backward(): there are no gradients",
                    where=evidence.at(step),
                    seen=f"{optimizer.name}.zero_grad() and {optimizer.name}.step(), and no backward() in the file",
                    expected="zero_grad(), backward(), step()",
                    help="loss.backward() before this line",
                    confidence=0.92,
                )
                break


def _cleared_first(source: Source, step: ast.Call) -> bool:
    for block in blocks(source):
        found = events(source, block)
        for place, each in enumerate(found):
            if each.call is step:
                cleared = [one for one in found[:place] if one.what == "clear"]
                return any(same(receiver(one.call), receiver(each.call)) for one in cleared)
    return False


def _names(source: Source) -> Iterator[str]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.alias):
            yield node.name
