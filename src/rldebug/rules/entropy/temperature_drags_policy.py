"""The loss of the temperature is not cut off from the policy."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.flow import computed_from, meant
from rldebug.syntax.kinds import kind
from rldebug.syntax.losses import carries, expanded, leads, minimised
from rldebug.syntax.names import argument, dotted, method
from rldebug.syntax.places import calls
from rldebug.syntax.sums import factors
from rldebug.syntax.sums import terms as summed


@dataclass(frozen=True, kw_only=True)
class TemperatureDragsPolicy(Rule):
    """The loss of the temperature is not cut off from the policy.

    ## What it checks
    A loss that is nothing but `log_alpha * (log_prob + target_entropy)`, where the log-prob still carries gradients to
    a network. Read from the source.

    ## Why it matters
    The loss of the temperature also pushes the policy, against the entropy bonus that the temperature is there for.
    The temperature drifts, the policy gets noise in its gradients.

    ## Likely causes
    1. `.detach()` is missing at the log-prob. Confirm: after this backward(), the policy's parameters have gradients.

    ## What to try first
    `alpha_loss = -(log_alpha * (log_prob + target_entropy).detach()).mean()`.

    ## When it is fine
    Where the policy's gradients are cleared before its own step; the detour then only costs time.

    ## References
    ENT-15 of bench/bugs (ManiSkill issue 899). Haarnoja et al., *Soft actor-critic algorithms and applications*.
    """

    code: ClassVar[str] = "ENT621"
    name: ClassVar[str] = "temperature-drags-policy"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("GRA300",)

    def check(self, evidence: Source) -> Iterator[Finding]:
        for call, terms in minimised(evidence):
            for term in terms:
                _, parts = factors(term.leaf)
                alone = [each for each in parts if _ends(evidence, each) == {"leaf"}]
                driven = [each for each in parts if "network" in _ends(evidence, each)]
                if len(parts) != 2 or len(alone) != 1 or len(driven) != 1:
                    continue
                # `alpha * log_prob - q` is the policy's loss; that of the temperature has a number beside the score.
                if len(terms) > 1 and not _beside_a_number(evidence, driven[0]):
                    continue
                scores = any(method(each.leaf) == "log_prob" for each in expanded(evidence, driven[0]))
                if not scores and not _has_optimizer_of_its_own(evidence, alone[0]):
                    continue
                score = evidence.quoted(driven[0])
                yield self.finding(
                    f"the loss of {evidence.quoted(alone[0])} also trains the policy: {score} is not detached",
                    where=evidence.at(driven[0]),
                    seen=f"{evidence.quoted(term.leaf)} reaches {evidence.quoted(call)}",
                    expected="only the temperature is moved by its loss",
                    help=f"({score}).detach()",
                    confidence=0.88,
                )


def _beside_a_number(source: Source, node: ast.expr) -> bool:
    """Whether it is a sum of something live and something constant: `log_prob + target_entropy`."""
    parts = [part for _, part in summed(meant(source, node))]
    return len(parts) > 1 and any(not carries(source, each) for each in parts)


def _has_optimizer_of_its_own(source: Source, node: ast.expr) -> bool:
    """`Adam([log_alpha])`: then its loss is meant for nothing else."""
    names = {dotted(each) for each in ast.walk(node) if dotted(each)}
    for call in calls(source):
        given = argument(call, 0, "params") if kind(source, call) == "optimizer" else None
        if isinstance(given, ast.List) and len(given.elts) == 1 and dotted(given.elts[0]) in names:
            return True
    return False


def _ends(source: Source, node: ast.expr) -> set[str]:
    """Where the gradients of an expression end: in a network, in a parameter of its own."""
    found = set()
    for each in computed_from(source, node, graph=True):
        if leads(source, each):
            network = isinstance(each, ast.Call) and (method(each) == "log_prob" or kind(source, each.func) == "module")
            found.add("network" if network else "leaf")
    return found
