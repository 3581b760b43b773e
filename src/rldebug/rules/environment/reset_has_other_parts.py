"""What `reset()` gives is unpacked, or not, against its form."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import reaching
from rldebug.syntax.made_envs import convention, reset_calls
from rldebug.syntax.names import dotted
from rldebug.syntax.places import parents, scope_of

_ASKS = frozenset({"isinstance", "len", "print", "type", "repr", "str", "tuple", "list"})


@dataclass(frozen=True, kw_only=True)
class ResetHasOtherParts(Rule):
    """What `reset()` gives is unpacked, or not, against its form.

    ## What it checks
    The result of `reset()` of a Gymnasium environment, which is a pair of observation and info, is handed on whole;
    or that of a vector environment of Stable-Baselines3, which is the observation alone, is unpacked into two. Read
    from the source.

    ## Why it matters
    In the first case, the network is given a tuple, and the program stops. In the second, it stops too, unless
    there are two environments: then each name gets one of them, and nothing is said.

    ## Likely causes
    1. The program was written for the old Gym. Confirm: look at what `reset()` returns.
    2. A vector environment of Stable-Baselines3 took the place of a plain one. Confirm: the same.

    ## What to try first
    `obs, info = env.reset()` with Gymnasium; `obs = venv.reset()` with Stable-Baselines3.

    ## When it is fine
    Nothing that is known of.

    ## References
    Gymnasium, *Migration guide: v0.21 to v1.0*.
    """

    code: ClassVar[str] = "ENV605"
    name: ClassVar[str] = "reset-has-other-parts"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("ENV403", "ENV401")

    def check(self, evidence: Source) -> Iterator[Finding]:
        for call, env in reset_calls(evidence):
            statement = parents(evidence).get(call)
            if not (isinstance(statement, ast.Assign) and len(statement.targets) == 1):
                continue
            target, form = statement.targets[0], convention(evidence, env)
            pair = isinstance(target, ast.Tuple) and len(target.elts) == 2
            handed = _handed_on(evidence, target, statement) if form == "gymnasium" else None
            if handed is not None or (form == "sb3" and pair):
                name = evidence.quoted(env)
                right = f"obs, info = {name}.reset()" if handed is not None else f"obs = {name}.reset()"
                what = (
                    f"{dotted(target)} is the pair (observation, info) and is handed on whole in line {handed.lineno}"
                    if handed is not None
                    else f"{name}.reset() gives the observations alone, and two names take them"
                )
                yield self.finding(
                    what,
                    where=evidence.at(statement),
                    seen=evidence.quoted(statement),
                    expected=right,
                    help=right,
                    confidence=0.95,
                    edits=(evidence.inserted_after(target, ", _"),)
                    if handed is not None and dotted(target) != "_"
                    else (),
                )


def _handed_on(source: Source, target: ast.expr, statement: ast.Assign) -> ast.Call | None:
    """The first call that is given the whole pair as an argument, where nobody looks into it first."""
    name = dotted(target)
    uses = [
        node
        for node in ast.walk(scope_of(source, statement))
        if name and isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
    ]
    mine = [each for each in uses if any(one.node is statement for one in reaching(source, each))]
    around = [(each, parents(source).get(each)) for each in mine]
    given = [up for each, up in around if isinstance(up, ast.Call) and each in up.args]
    if any(dotted(each.func) in _ASKS for each in given) or any(isinstance(up, ast.Subscript) for _, up in around):
        return None
    return given[0] if given else None
