"""The log-probs of a loss are cut off from the policy."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import called, reaching
from rldebug.syntax.flow import computed_from, cuts, handed
from rldebug.syntax.kinds import kind
from rldebug.syntax.losses import carries
from rldebug.syntax.names import dotted, library, method, receiver
from rldebug.syntax.places import without_graph
from rldebug.syntax.stepping import is_env
from rldebug.syntax.training import backward_calls

_METHODS = """
mean sum squeeze unsqueeze view reshape flatten float double to cpu clone exp log pow clamp clip neg abs square gather
log_prob entropy detach item numpy tolist size astype
"""
_PLAIN = frozenset(_METHODS.split())


@dataclass(frozen=True, kw_only=True)
class ScoreCutFromLoss(Rule):
    """The log-probs of a loss are cut off from the policy.

    ## What it checks
    `backward()` is called on a loss that is made of `log_prob()` of a policy, and nothing in it leads to a weight,
    because the log-probs went through `detach()`, `item()`, `.data`, NumPy or `torch.tensor()`, or were computed under
    `no_grad()`. Read from the source.

    ## Why it matters
    PyTorch refuses such a loss ("does not require grad"), or, where somebody switched `requires_grad` on, trains
    nothing without a word.

    ## Likely causes
    1. Log-probs were stored as numbers and made a tensor again: `torch.tensor(log_probs)`. Confirm: read the line.
    2. The wrong factor was detached. Confirm: it is the advantage that wants it.

    ## What to try first
    `torch.stack(log_probs)` of what `log_prob()` returned; compute log-probs of old actions anew.

    ## When it is fine
    Nothing that is known of.

    ## References
    GRA-11 of bench/bugs.
    """

    code: ClassVar[str] = "GRA642"
    name: ClassVar[str] = "score-cut-from-loss"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("GRA403", "GRA009", "GRA301", "GRA302")

    def check(self, evidence: Source) -> Iterator[Finding]:
        for call in backward_calls(evidence):
            loss = call.args[0] if call.args else receiver(call)
            if loss is None or carries(evidence, loss):
                continue
            if any(_unknown(evidence, each) for each in computed_from(evidence, loss, graph=True)):
                continue
            for node in computed_from(evidence, loss):
                how = _cut(evidence, node)
                if how:
                    yield self.finding(
                        f"the log-probs are cut off from the loss: {how}",
                        where=evidence.at(node),
                        seen=f"{evidence.quoted(node)}, and backward() on line {call.lineno}",
                        expected="a loss that leads to the weights of the policy",
                        help="keep the tensors that log_prob() returned: torch.stack(log_probs)",
                        confidence=0.9,
                    )
                    break


def _cut(source: Source, node: ast.expr) -> str:
    """How gradients are lost at a node that holds a score; empty where they are not, or nothing is lost."""
    if isinstance(node, ast.Call) and method(node) == "log_prob":
        return "they are computed under no_grad()" if without_graph(source, node) else ""
    if not cuts(source, node) or isinstance(node, ast.Compare | ast.Constant) or method(node) in ("sample", "argmax"):
        return ""
    inside = [node.value] if isinstance(node, ast.Attribute) else []
    if isinstance(node, ast.Call):
        inside = node.args[:1] if library(source, node) else [each for each in [receiver(node)] if each is not None]
    scores = (one for each in inside for one in computed_from(source, each, graph=True))
    if any(method(one) == "log_prob" for one in scores):
        return f"{source.quoted(node.func) if isinstance(node, ast.Call) else '.data'} makes plain numbers of them"
    return ""


def _unknown(source: Source, node: ast.expr) -> bool:
    """Whether a node may lead to weights in a way that the text does not tell."""
    if isinstance(node, ast.Call):
        known = library(source, node) or called(source, node) is not None or dotted(node.func) in ("sum", "list", "zip")
        made = kind(source, node) or kind(source, node.func)
        return not (known or made or method(node) in _PLAIN or is_env(source, receiver(node)))
    if isinstance(node, ast.Name):
        # What a function is given may be anything, where nobody in this file calls it.
        return any(
            isinstance(each.node, ast.arg) and not any(handed(source, each.node)) for each in reaching(source, node)
        )
    return False
