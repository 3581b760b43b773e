"""The environment is taken out of its time limit."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import classes, reaching
from rldebug.syntax.kinds import class_kind
from rldebug.syntax.made_envs import unwrapped
from rldebug.syntax.names import dotted, library
from rldebug.syntax.places import Function, calls, loops_of, parents, statement_of
from rldebug.syntax.stepping import steps


@dataclass(frozen=True, kw_only=True)
class TimeLimitCutOff(Rule):
    """The environment is taken out of its time limit.

    ## What it checks
    `gymnasium.make(…).env` or `.unwrapped` is what is stepped or wrapped, and the loop that steps it has no end of
    its own. Read from the source.

    ## Why it matters
    `gymnasium.make` puts the time limit around the environment. What is inside of it never truncates: an episode of
    an agent that does not fail goes on for ever, and scores cannot be compared with those of others.

    ## Likely causes
    1. `.env` was meant to reach some attribute. Confirm: `print(env)` shows no TimeLimit.

    ## What to try first
    Step what `gymnasium.make` gave, and use `.unwrapped` only to read from it.

    ## When it is fine
    Where the program counts steps itself, which is not reported when it does so by a `for`.

    ## References
    WRP-05 of bench/bugs.
    """

    code: ClassVar[str] = "ENV607"
    name: ClassVar[str] = "time-limit-cut-off"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("ENV301", "ENV028")

    def check(self, evidence: Source) -> Iterator[Finding]:
        for node in ast.walk(evidence.tree):
            if not isinstance(node, ast.Attribute) or unwrapped(evidence, node) is None:
                continue
            use = _used(evidence, node)
            if use is not None:
                yield self.finding(
                    f"{evidence.quoted(node)} has no time limit any more: {use}",
                    where=evidence.at(node),
                    seen=evidence.quoted(statement_of(evidence, node)),
                    expected="the environment as gymnasium.make gave it",
                    help=f"{evidence.quoted(node.value)} without .{node.attr}",
                    confidence=0.8,
                )


def _used(source: Source, node: ast.Attribute) -> str | None:
    """What is done with it that needs the limit: it is stepped in a loop without end, or wrapped."""
    parent = parents(source).get(node)
    if isinstance(parent, ast.Call) and parent.args and parent.args[0] is node:
        name = library(source, parent)
        own = classes(source).get(dotted(parent.func))
        wraps = name.startswith("gymnasium.wrappers.") or (own is not None and class_kind(source, own) == "env")
        limits = "TimeLimit" in name or _limited(source, parent)
        return f"{source.quoted(parent.func)} wraps it" if wraps and not limits else None
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
        for step in steps(source):
            inner = loops_of(source, step.call)
            bound = any(each.node is parent for each in reaching(source, step.env))
            if bound and inner and isinstance(inner[0], ast.While):
                return f"line {step.call.lineno} steps it in a loop that only the environment ends"
    return None


def _limited(source: Source, call: ast.Call) -> bool:
    """Whether a limit is put around something again, here or in the class that wraps it."""
    limits = any("TimeLimit" in library(source, each) for each in calls(source))
    own = classes(source).get(dotted(call.func))
    truncates = own is not None and any(isinstance(each, Function) and each.name == "step" for each in own.body)
    return limits or truncates
