"""Every episode is reset with the same seed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.flow import within
from rldebug.syntax.kinds import class_kind
from rldebug.syntax.made_envs import reset_calls
from rldebug.syntax.names import dotted, method
from rldebug.syntax.places import above, calls_in, class_of, loops_of, scope_of
from rldebug.syntax.stepping import steps


@dataclass(frozen=True, kw_only=True)
class EveryEpisodeSeededAlike(Rule):
    """Every episode is reset with the same seed.

    ## What it checks
    `env.reset(seed=x)` in a loop, where nothing in the loop changes x, and the environment was made before it. Read
    from the source.

    ## Why it matters
    All episodes begin alike and, with the same actions, are the same. The agent learns one episode by heart, and
    evaluation over n episodes is one episode n times.

    ## Likely causes
    1. The seed was meant for the first reset only. Confirm: print the first observation of some episodes.
    2. The number of the episode was left out. Confirm: the same.

    ## What to try first
    `env.reset(seed=seed)` before the loop and `env.reset()` in it; `seed=seed + episode` for evaluation.

    ## When it is fine
    Where one fixed start is meant, or several agents are compared on one episode.

    ## References
    Gymnasium, *Env.reset*.
    """

    code: ClassVar[str] = "SEE606"
    name: ClassVar[str] = "every-episode-seeded-alike"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("SEE350", "SEE005", "SEE300")

    def check(self, evidence: Source) -> Iterator[Finding]:
        for call, env in reset_calls(evidence):
            seed = next((each.value for each in call.keywords if each.arg == "seed"), None)
            loops = loops_of(evidence, call)
            owner = class_of(evidence, call)
            if seed is None or not loops or not dotted(env) or (owner and class_kind(evidence, owner) == "env"):
                continue
            loop = next((each for each in loops if _repeats(each)), None)
            if loop is None or not _fixed(seed, loop) or dotted(env) in _stored(loop) or _only_tests(evidence, loop):
                continue
            if _now_and_then(evidence, call, loop):
                continue
            if sum(dotted(other) != dotted(env) and within(loop, one) for one, other in reset_calls(evidence)):
                continue  # two of them are compared
            played = [each for each in steps(evidence) if dotted(each.env) == dotted(env) and within(loop, each.call)]
            if played:
                given = evidence.quoted(seed)
                yield self.finding(
                    f"every episode is reset with seed {given}: they all begin alike",
                    where=evidence.at(call),
                    seen=f"{evidence.quoted(call)} in the loop of line {loop.lineno}",
                    expected=f"{evidence.quoted(env)}.reset() in the loop, and the seed once before it",
                    help=f"reset(seed={given}) before the loop; {evidence.quoted(env)}.reset() in it",
                    confidence=0.85,
                )


def _only_tests(source: Source, loop: ast.AST) -> bool:
    """A network is put to eval() and nothing is trained: who tests may want the same episode every time."""
    called = {method(each) for each in calls_in(scope_of(source, loop))}
    return "eval" in called and "backward" not in called


def _now_and_then(source: Source, call: ast.Call, loop: ast.AST) -> bool:
    """`if step % 1000 == 0: obs = env.reset(seed=…)`: what is played then is a test, of one episode every time."""
    around = takewhile(lambda each: each is not loop, above(source, call))
    parts = (each for one in around if isinstance(one, ast.If) for each in ast.walk(one.test))
    return any(isinstance(each, ast.BinOp) and isinstance(each.op, ast.Mod) for each in parts)


def _repeats(loop: ast.AST) -> bool:
    """A `while`, or a `for` over numbers: one over agents may well compare them on one episode."""
    if isinstance(loop, ast.While):
        return True
    inside = list(ast.walk(loop.iter)) if isinstance(loop, ast.For) else []
    names = {dotted(each.func) for each in inside if isinstance(each, ast.Call)}
    return bool(names & {"range", "trange", "count", "itertools.count"})


def _stored(loop: ast.AST) -> set[str]:
    names = (each for each in ast.walk(loop) if isinstance(each, ast.Name | ast.Attribute))
    return {dotted(each) for each in names if isinstance(each.ctx, ast.Store)}


def _fixed(seed: ast.expr, loop: ast.AST) -> bool:
    """Whether a loop cannot change a value: numbers and names that it never binds, and no calls."""
    if isinstance(seed, ast.Constant):
        return seed.value is not None
    parts = list(ast.walk(seed))
    plain = not any(isinstance(each, ast.Call | ast.IfExp | ast.Subscript | ast.Lambda | ast.Await) for each in parts)
    return plain and not {dotted(each) for each in parts if dotted(each)} & _stored(loop)
