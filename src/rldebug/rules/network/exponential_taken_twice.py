"""A deviation is the exponential of an exponential."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.rules.preprocessing.image_divided_twice import same_values
from rldebug.syntax.flow import computed_from
from rldebug.syntax.names import library, method, receiver
from rldebug.syntax.places import calls

_NORMALS = frozenset({"Normal", "MultivariateNormal", "LogNormal", "SquashedNormal", "TanhNormal"})


@dataclass(frozen=True, kw_only=True)
class ExponentialTakenTwice(Rule):
    """A deviation is the exponential of an exponential.

    ## What it checks
    A normal distribution is made with `exp()` of what is the result of `exp()` already, followed through names and
    functions of the file. Read from the source.

    ## Why it matters
    The exponential of a positive number is above 1: the policy can never become sharper than that, and its entropy
    hardly falls. Noise drowns what it has learned.

    ## Likely causes
    1. The network gives back the deviation, and who calls it takes it for the logarithm. Confirm: print the deviation
       beside the exponential of the parameter.

    ## What to try first
    Take one of the two exponentials away.

    ## When it is fine
    Nothing that is known of.

    ## References
    torch, `Normal`.
    """

    code: ClassVar[str] = "NET250"
    name: ClassVar[str] = "exponential-taken-twice"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"

    def check(self, evidence: Source) -> Iterator[Finding]:
        told: set[ast.AST] = set()
        for made in calls(evidence):
            if library(evidence, made).rpartition(".")[2] not in _NORMALS:
                continue
            given = [
                *made.args[1:],
                *(each.value for each in made.keywords if each.arg in ("scale", "covariance_matrix")),
            ]
            for value in given:
                for each in [value, *computed_from(evidence, value)]:
                    inner = _exponent(evidence, each)
                    first = _taken(evidence, inner) if inner is not None else None
                    if inner is None or first is None or each in told:
                        continue
                    told.add(each)
                    yield self.finding(
                        f"{evidence.quoted(inner)} is an exponential already: the deviation is always above 1",
                        where=evidence.at(each),
                        seen=f"{evidence.quoted(first)}, then {evidence.quoted(each)}",
                        expected="one exponential, of the logarithm of the deviation",
                        help=f"take this one away, or the one in line {first.lineno}",
                        confidence=0.9,
                    )


def _exponent(source: Source, node: ast.AST) -> ast.expr | None:
    """x of `x.exp()` and `torch.exp(x)`."""
    if not isinstance(node, ast.Call):
        return None
    if library(source, node) in ("torch.exp", "numpy.exp"):
        return node.args[0] if node.args else None
    return receiver(node) if method(node) == "exp" and not node.args and not library(source, node) else None


def _taken(source: Source, value: ast.expr) -> ast.expr | None:
    """The exponential that a value is the result of, under whatever name."""
    return next((each for each in same_values(source, value, 8) if _exponent(source, each) is not None), None)
