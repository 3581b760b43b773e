"""A loss is computed and reported, and reaches no backward()."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.answers import asked, network
from rldebug.syntax.flow import computed_from, within
from rldebug.syntax.names import dotted, method, receiver
from rldebug.syntax.optimised import key, optimised
from rldebug.syntax.places import calls_in, parents, scope_of, statement_of, without_graph
from rldebug.syntax.regressions import regressions

_REPORTS = ("item", "detach", "cpu", "tolist", "numpy")


@dataclass(frozen=True, kw_only=True)
class LossOnlyReported(Rule):
    """A loss is computed and reported, and reaches no backward().

    ## What it checks
    A squared error of a network that an optimizer holds has a name, and that name is only read for a report
    (`.item()`) or not at all, in a function that calls backward() on something else. Read from the source.

    ## Why it matters
    The network is never trained by it. The reported loss may even fall, when the targets move; the critic stays noise.

    ## Likely causes
    1. The term was left out of the sum. Confirm: read what backward() is called on.

    ## What to try first
    `loss = policy_loss + 0.5 * value_loss`.

    ## When it is fine
    Where it is only a measure, of something that is trained elsewhere.

    ## References
    Huang et al., *The 37 implementation details of PPO*.
    """

    code: ClassVar[str] = "VAL624"
    name: ClassVar[str] = "loss-only-reported"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("VAL001", "VAL010")

    def check(self, evidence: Source) -> Iterator[Finding]:
        learning = {key(evidence, each) for _, networks in optimised(evidence) for each in networks}
        for each in regressions(evidence) if learning else ():
            statement = statement_of(evidence, each.node)
            if (
                not isinstance(statement, ast.Assign)
                or len(statement.targets) != 1
                or without_graph(evidence, statement)
            ):
                continue
            name, scope = dotted(statement.targets[0]), scope_of(evidence, statement)
            passes = [call for call in calls_in(scope) if method(call) == "backward"]
            if not name or "." in name or not passes or _used(evidence, scope, name):
                continue
            if any(within(one, each.node) or _reaches(evidence, one, each.node) for one in passes):
                continue
            trained = [one for one in asked(evidence, each.node, graph=True) if _held(evidence, one, learning)]
            if not trained:
                continue
            on = ", ".join(dict.fromkeys(evidence.quoted(receiver(one) or one) for one in passes))
            yield self.finding(
                f"{name} trains nothing: backward() is called on {on} only",
                where=evidence.at(statement),
                seen=f"{evidence.quoted(statement)}, then read for reports only",
                expected=f"{name} is part of what backward() is called on",
                help=f"loss = {on} + 0.5 * {name}",
                confidence=0.85,
            )


def _held(source: Source, call: ast.Call, learning: set[str]) -> bool:
    on = network(source, call)
    name = key(source, on) if on is not None else ""
    return any(name == each or name.startswith(f"{each}.") for each in learning if each)


def _used(source: Source, scope: ast.AST, name: str) -> bool:
    """Whether a name is read for more than a report."""
    up = parents(source)
    for node in ast.walk(scope):
        if not (isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)):
            continue
        parent = up.get(node)
        if isinstance(parent, ast.Attribute) and parent.attr in _REPORTS:
            continue
        if isinstance(parent, ast.Call) and dotted(parent.func) in ("float", "print"):
            continue
        if isinstance(parent, ast.FormattedValue):
            continue
        return True
    return False


def _reaches(source: Source, call: ast.Call, node: ast.expr) -> bool:
    loss = receiver(call)
    return loss is not None and node in computed_from(source, loss)
