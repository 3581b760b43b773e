"""Evaluation plays the environment in the middle of a training episode."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import called, class_of_method, given_for, parameters
from rldebug.syntax.flow import meant
from rldebug.syntax.names import dotted, method, receiver
from rldebug.syntax.places import calls_in, class_of, function_of, loops_of, parents, statement_of
from rldebug.syntax.stepping import steps


@dataclass(frozen=True, kw_only=True)
class EvaluatedInTheTrainingEnvironment(Rule):
    """Evaluation plays the environment in the middle of a training episode.

    ## What it checks
    In the loop that steps an environment for training, a function is called that resets and steps the same
    environment, and the loop goes on with the observation it had. Read from the source.

    ## Why it matters
    After the evaluation the environment is somewhere else, often at the end of an episode. The next step is stored
    as if it followed from the old observation, and goes on in an episode that is over.

    ## Likely causes
    1. There is no environment of its own for evaluation. Confirm: `eval_env is env`.

    ## What to try first
    Make a second environment for evaluation.

    ## When it is fine
    Where the loop resets the environment right after, or is left, which is not reported.

    ## References
    Stable-Baselines3, *RL tips and tricks: how to evaluate*.
    """

    code: ClassVar[str] = "EVA602"
    name: ClassVar[str] = "evaluated-in-the-training-environment"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("EVA354", "EVA351", "EVA356")

    def check(self, evidence: Source) -> Iterator[Finding]:
        for step in steps(evidence):
            loops = loops_of(evidence, step.call)
            env = dotted(step.env)
            if not loops or not env:
                continue
            for call in calls_in(loops[0]):
                if loops_of(evidence, call)[:1] != loops[:1] or call is step.call:
                    continue
                if _plays(evidence, call, step.env) and not _renewed(evidence, call, env):
                    yield self.finding(
                        f"{evidence.quoted(call)} resets and plays {env} in the middle of an episode of training",
                        where=evidence.at(call),
                        seen=f"line {step.call.lineno} steps {env} too, and the loop goes on with its old observation",
                        expected="an environment of its own for evaluation",
                        help=f"make a second environment, and hand that over in place of {env}",
                        confidence=0.9,
                    )


def _plays(source: Source, call: ast.Call, stepped: ast.expr) -> bool:
    """Whether a function of this file resets and steps the environment: as a parameter, as an attribute, or as what was
    made outside of it."""
    function, env = called(source, call), dotted(stepped)
    if function is None or function is function_of(source, call):
        return False
    names = {
        each.arg for each in parameters(function) if dotted(given_for(function, each.arg, call) or function) == env
    }
    if "." in env and class_of_method(source, function) is class_of(source, call):
        names.add(env)
    done = {(method(each), dotted(receiver(each) or each)) for each in calls_in(function)}
    made = meant(source, stepped)
    names |= {
        dotted(each) for each in map(receiver, calls_in(function)) if each is not None and _is(source, each, made)
    }
    return any({("reset", name), ("step", name)} <= done for name in names)


def _is(source: Source, env: ast.expr, made: ast.expr) -> bool:
    return isinstance(made, ast.Call) and meant(source, env) is made


def _renewed(source: Source, call: ast.Call, env: str) -> bool:
    """Whether the environment is reset after a call, or its loop left: in its own block or in one around that."""
    above: ast.AST | None = statement_of(source, call)
    while isinstance(above, ast.stmt) and not isinstance(above, (ast.For, ast.While, ast.FunctionDef)):
        if any(_resets(each, env) or isinstance(each, (ast.Break, ast.Return)) for each in _after(source, above)):
            return True
        above = parents(source).get(above)
    return False


def _after(source: Source, statement: ast.stmt) -> list[ast.stmt]:
    for name in ("body", "orelse"):
        body = getattr(parents(source).get(statement), name, None)
        if isinstance(body, list) and statement in body:
            return body[body.index(statement) + 1 :]
    return []


def _resets(statement: ast.stmt, env: str) -> bool:
    return not isinstance(statement, ast.If) and any(
        isinstance(node, ast.Call) and method(node) == "reset" and dotted(receiver(node) or node) == env
        for node in ast.walk(statement)
    )
