"""A function that samples has a switch that it never reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import default_of, functions
from rldebug.syntax.flow import computed_from, returned
from rldebug.syntax.kinds import kind
from rldebug.syntax.names import argument, constant, dotted, method, receiver, resolved
from rldebug.syntax.places import Function, calls_in


@dataclass(frozen=True, kw_only=True)
class SamplingFlagNeverRead(Rule):
    """A function that samples has a switch that it never reads.

    ## What it checks
    A function returns what it draws from a distribution of PyTorch, and has a parameter that is True or False, such as
    `deterministic`, which nothing in it reads. Read from the source.

    ## Why it matters
    Who asks for the best action gets a random one. Evaluation is noisier and lower than the policy deserves, and
    nothing says why.

    ## Likely causes
    1. The branch for the deterministic action was never written. Confirm: call it twice with the same observation.

    ## What to try first
    `action = pi.mode if deterministic else pi.sample()`.

    ## When it is fine
    Where the switch is only there for a common signature.

    ## References
    ACT-22 of bench/bugs.
    """

    code: ClassVar[str] = "ACT603"
    name: ClassVar[str] = "sampling-flag-never-read"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("EVA355",)

    def check(self, evidence: Source) -> Iterator[Finding]:
        for functions_of in functions(evidence).values():
            for function in functions_of:
                drawn = next((each for each in calls_in(function) if _draws(evidence, each)), None)
                flags = _unread_flags(function) if drawn is not None else []
                if drawn is None or not flags:
                    continue
                answers = [each for value in returned(function) for each in computed_from(evidence, value)]
                for flag in flags if drawn in answers else ():  # else a whole program, with switches for other things
                    yield self.finding(
                        f"{function.name}() takes {flag.arg} and never reads it: it samples in any case",
                        where=evidence.at(drawn),
                        seen=f"{evidence.quoted(drawn)} in line {drawn.lineno}",
                        expected=f"another action where {flag.arg} is set",
                        help=f"pi.mode if {flag.arg} else {evidence.quoted(drawn)}",
                        confidence=0.85,
                    )


def _draws(source: Source, call: ast.Call) -> bool:
    if resolved(source, call.func) == "torch.multinomial":
        return constant(argument(call, 1, "num_samples") or call) == 1
    return method(call) in ("sample", "rsample") and kind(source, receiver(call)) == "distribution"


def _unread_flags(function: Function) -> list[ast.arg]:
    """Parameters that are True or False, by default or by annotation, and that nothing in the function reads."""
    read = {each.id for one in function.body for each in ast.walk(one) if isinstance(each, ast.Name)}
    if "locals" in read:
        return []
    flags = [
        each
        for each in [*function.args.args, *function.args.kwonlyargs]
        if isinstance(constant(default_of(function, each.arg)), bool) or dotted(each.annotation or function) == "bool"
    ]
    return [each for each in flags if each.arg not in read and not each.arg.startswith("_")]
