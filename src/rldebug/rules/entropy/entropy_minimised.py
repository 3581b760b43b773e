"""The entropy of the policy is added to a loss that is minimised."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.flow import meant, same
from rldebug.syntax.losses import Term, minimised
from rldebug.syntax.names import library, method, receiver
from rldebug.syntax.numbers import number
from rldebug.syntax.ratios import is_ratio


@dataclass(frozen=True, kw_only=True)
class EntropyMinimised(Rule):
    """The entropy of the policy is added to a loss that is minimised.

    ## What it checks
    `loss = policy_loss + c * dist.entropy()` with c > 0, followed to backward() through names, means and functions.
    Read from the source, where the coefficient is a number in the text.

    ## Why it matters
    What is added to a loss is made small. The policy stops exploring within a few updates, and the larger the "bonus"
    the sooner.

    ## Likely causes
    1. A plus where a minus belongs. Confirm: the logged entropy falls faster with a larger coefficient.

    ## What to try first
    `loss = policy_loss - c * entropy.mean()`.

    ## When it is fine
    Where a sure policy is wanted, in fine-tuning at test time.

    ## References
    Mnih et al., *Asynchronous methods for deep reinforcement learning*.
    """

    code: ClassVar[str] = "ENT620"
    name: ClassVar[str] = "entropy-minimised"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("ENT001", "ENT300", "ENT360")

    def check(self, evidence: Source) -> Iterator[Finding]:
        told: set[ast.expr] = set()
        for call, terms in minimised(evidence):
            if not any(_of_policy(evidence, each) for each in terms):
                continue
            for term in terms:
                weights = [number(evidence, each) for each in term.weights]
                by_hand = _negative_entropy(evidence, term.leaf)
                if not (by_hand or method(term.leaf) == "entropy") or term.leaf in told:
                    continue
                if (term.sign < 0) != by_hand:
                    continue
                if all(each is not None and each > 0 for each in weights):
                    told.add(term.leaf)
                    entropy = evidence.quoted(term.leaf)
                    by = " * ".join(evidence.quoted(each) for each in term.weights) or "1"
                    yield self.finding(
                        f"the entropy is added to the loss of {evidence.quoted(call)}: it will be made small",
                        where=evidence.at(term.weights[0] if term.weights else term.leaf),
                        seen=f"{'-' if by_hand else '+'} {by} * {entropy}",
                        expected="the entropy is taken away from a loss that is minimised",
                        help=f"write a {'plus' if by_hand else 'minus'} before the entropy's part of the loss",
                        confidence=0.93,
                    )


def _negative_entropy(source: Source, node: ast.expr) -> bool:
    """`p * log p`, of probabilities that are exp() of the other factor, or softmax() of what it is log_softmax() of."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)):
        return False
    for p, log in ((node.left, node.right), (node.right, node.left)):
        made, other = meant(source, p), meant(source, log)
        if not isinstance(made, ast.Call) or not isinstance(other, ast.Call) or _last(source, other) != "log_softmax":
            continue
        subject = _subject(source, made)
        if _last(source, made) == "exp" and subject is not None and meant(source, subject) is other:
            return True
        if _last(source, made) == "softmax" and same(subject, _subject(source, other)):
            return True
    return False


def _last(source: Source, call: ast.Call) -> str:
    return library(source, call).rpartition(".")[2] or method(call)


def _subject(source: Source, call: ast.Call) -> ast.expr | None:
    return (call.args[0] if call.args else None) if library(source, call) else receiver(call)


def _of_policy(source: Source, term: Term) -> bool:
    leaf = term.leaf
    if library(source, leaf) in ("torch.min", "torch.max", "torch.minimum", "torch.maximum"):
        return isinstance(leaf, ast.Call) and len(leaf.args) == 2
    if method(leaf) == "gather" and (scores := receiver(leaf)) is not None:
        made = meant(source, scores)
        return isinstance(made, ast.Call) and _last(source, made) == "log_softmax"
    return method(leaf) == "log_prob" or is_ratio(source, leaf)
