"""tanh is applied to the mean, and again to the action drawn around it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.flow import meant
from rldebug.syntax.heads import last_operations
from rldebug.syntax.names import argument, library, method, receiver
from rldebug.syntax.places import calls

_TANH = frozenset({"torch.tanh", "torch.nn.functional.tanh"})


@dataclass(frozen=True, kw_only=True)
class MeanSquashedBeforeSampling(Rule):
    """tanh is applied to the mean, and again to the action drawn around it.

    ## What it checks
    `Normal(mean, …)` whose mean comes out of a tanh, and `tanh` of what is drawn from that distribution. Read from
    the source.

    ## Why it matters
    The mean lies between -1 and 1, and tanh of that between -0.76 and 0.76: the deterministic policy never reaches
    the bounds of the action, and the sampled one only by noise.

    ## Likely causes
    1. The head of a deterministic policy was kept when the squashing was added. Confirm: the largest action of the
       policy without noise.

    ## What to try first
    Leave the mean as the linear layer gives it; tanh belongs behind the sampling.

    ## When it is fine
    Where means are bounded on purpose, with a scale above 1.

    ## References
    ACT-12 of bench/bugs. Haarnoja et al., *Soft actor-critic*.
    """

    code: ClassVar[str] = "ACT605"
    name: ClassVar[str] = "mean-squashed-before-sampling"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("ACT007",)

    def check(self, evidence: Source) -> Iterator[Finding]:
        for call in calls(evidence):
            squashed = call.args[0] if library(evidence, call) in _TANH and call.args else None
            if squashed is None and method(call) == "tanh" and not library(evidence, call):
                squashed = receiver(call)
            drawn = meant(evidence, squashed) if squashed is not None else None
            pi = receiver(drawn) if drawn is not None and method(drawn) in ("sample", "rsample") else None
            mean = _mean(evidence, pi) if pi is not None else None
            if mean is not None and last_operations(evidence, mean) == {"tanh"}:
                yield self.finding(
                    f"{evidence.quoted(mean)} went through tanh already: actions of the mean end at tanh(1) = 0.76",
                    where=evidence.at(call),
                    seen=f"{evidence.quoted(call)}, drawn around a mean between -1 and 1",
                    expected="one tanh, behind the sampling",
                    help=f"take the tanh off {evidence.quoted(mean)}",
                    confidence=0.8,
                )


def _mean(source: Source, pi: ast.expr) -> ast.expr | None:
    """The mean that a normal distribution was made with."""
    made = meant(source, pi)
    if not isinstance(made, ast.Call):
        return None
    name = library(source, made).rpartition(".")[2]
    if name == "Independent" and made.args:
        return _mean(source, made.args[0])
    return argument(made, 0, "loc") if name in ("Normal", "MultivariateNormal") else None
