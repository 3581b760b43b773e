"""A method is named and not called: its parentheses are missing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule

_METHODS = frozenset({"backward", "step", "zero_grad", "eval", "train", "reset", "close", "detach_"})


@dataclass(frozen=True, kw_only=True)
class MethodNotCalled(Rule):
    """A method is named and not called: its parentheses are missing.

    ## What it checks
    A statement that is only `loss.backward`, `optimizer.step`, `optimizer.zero_grad`, `net.eval`, `net.train`,
    `env.reset` or `env.close`. Read from the source.

    ## Why it matters
    The line does nothing. Without `backward` or `step` nothing is learned; without `zero_grad` gradients pile up;
    without `eval` dropout stays on while acting.

    ## Likely causes
    1. The parentheses were forgotten. Confirm: read the line.

    ## What to try first
    Add `()`.

    ## When it is fine
    Nothing that is known of.

    ## References
    PyTorch, *Optimizing model parameters*.
    """

    code: ClassVar[str] = "GRA640"
    name: ClassVar[str] = "method-not-called"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("OPT640", "OPT650")

    def check(self, evidence: Source) -> Iterator[Finding]:
        for node in ast.walk(evidence.tree):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Attribute) and node.value.attr in _METHODS:
                line = evidence.quoted(node.value)
                yield self.finding(
                    f"{line} is not called: the line does nothing",
                    where=evidence.at(node),
                    seen=line,
                    expected=f"{line}()",
                    help=f"{line}()",
                    confidence=0.97,
                    edits=(evidence.inserted_after(node.value, "()"),),
                )
