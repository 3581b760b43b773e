"""The score of an episode is kept, and never set back for the next one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import bound_in
from rldebug.syntax.flow import within
from rldebug.syntax.names import argument, constant, dotted, library, method, receiver
from rldebug.syntax.places import above, calls, function_of, loops_of, scope_of
from rldebug.syntax.stepping import steps

_MEANS = ("numpy.mean", "numpy.average", "numpy.median", "statistics.mean", "statistics.fmean", "numpy.nanmean")


@dataclass(frozen=True, kw_only=True)
class ScoreNeverCleared(Rule):
    """The sum of rewards runs on over episodes, and its values are averaged.

    ## What it checks
    A number that rewards of an environment are added to, in a loop in which the environment is also reset. It is put
    into a list once for each episode, the list is averaged, and nothing in the loop ever sets the number back. Read
    from the source.

    ## Why it matters
    What is averaged are running totals: the second episode is reported with the reward of two, the tenth with that of
    ten. The score grows with the number of episodes, and one bad episode stays in all that follow.

    ## Likely causes
    1. `total = 0` stands before the loop over episodes, not in it. Confirm: print the list of scores.
    2. It is not set back where an episode ends. Confirm: the same.

    ## What to try first
    Set it to 0 where the environment is reset.

    ## When it is fine
    A curve of the reward so far, as of a bandit: nobody takes its mean, and nothing is said.

    ## References
    Gymnasium, *RecordEpisodeStatistics*, which sets its sums back at every reset.
    """

    code: ClassVar[str] = "EVA270"
    name: ClassVar[str] = "score-never-cleared"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"

    def check(self, evidence: Source) -> Iterator[Finding]:
        rewards = {name: step for step in steps(evidence) if (name := step.named("reward"))}
        if not rewards:
            return
        for call in calls(evidence):
            rows, loops = receiver(call), loops_of(evidence, call)
            if method(call) != "append" or rows is None or not loops or len(call.args) != 1:
                continue
            given = call.args[0]
            if not isinstance(given, ast.Name) or not _restarts(loops[0]) or not _averaged(evidence, rows, call):
                continue
            added = _added(evidence, given.id, loops[-1], set(rewards))
            if added is None or not within(loops[0], added) or not _of_one_episode(evidence, call, loops[0]):
                continue
            yield self.finding(
                f"{evidence.quoted(given)} is never set back: what is averaged are running totals",
                where=evidence.at(call),
                seen=f"{evidence.quoted(call)} for each episode, and nothing in the loop sets {given.id} to 0",
                expected="the rewards of one episode",
                help=f"{given.id} = 0.0 where the environment is reset",
                confidence=0.92,
            )


def _restarts(loop: ast.AST) -> bool:
    return any(method(each) == "reset" for each in ast.walk(loop))


def _added(source: Source, name: str, loop: ast.AST, rewards: set[str]) -> ast.AST | None:
    """Where rewards are added to a number that begins as 0 before a loop, and that nothing else changes within it."""
    found: ast.AST | None = None
    begun = False
    for each in bound_in(source, scope_of(source, loop)).get(name, ()):
        if not within(loop, each.node):
            begun = begun or constant(each.whole) == 0
            continue
        plus = isinstance(each.node, ast.AugAssign) and isinstance(each.node.op, ast.Add)
        if not plus or each.value is None:
            return None
        if {dotted(one) for one in ast.walk(each.value)} & rewards:
            found = found or each.node
    cleared = any(isinstance(each, ast.Subscript) and dotted(each.value) == name for each in ast.walk(loop))
    return found if begun and not cleared else None


def _of_one_episode(source: Source, call: ast.Call, loop: ast.AST) -> bool:
    """It is kept when an episode is over: after a loop that steps, or under a condition."""
    stepped = [each.call for each in steps(source) if within(loop, each.call)]
    inner = [each for each in ast.walk(loop) if isinstance(each, ast.While | ast.For) and each is not loop]
    after = any(within(each, one) and not within(each, call) for each in inner for one in stepped)
    asked = any(isinstance(each, ast.If) and within(loop, each) for each in above(source, call))
    return bool(stepped) and (after or asked)


def _averaged(source: Source, rows: ast.expr, call: ast.Call) -> bool:
    """Whether someone takes the mean of the list, or of its last part."""
    name = dotted(rows)
    if not name:
        return False
    beside = {id(each) for each in ast.walk(function_of(source, call) or source.tree)}
    for each in calls(source):
        if id(each) not in beside and "." not in name:
            continue
        if library(source, each) in _MEANS and _is(argument(each, 0, "a"), name):
            return True
        if dotted(each.func) == "sum" and each.args and _is(each.args[0], name):
            above_it = next(iter(above(source, each)), None)
            divided = isinstance(above_it, ast.BinOp) and isinstance(above_it.op, ast.Div) and above_it.left is each
            if divided:
                return True
    return False


def _is(node: ast.expr | None, name: str) -> bool:
    inner = node.value if isinstance(node, ast.Subscript) else node
    return inner is not None and dotted(inner) == name
