"""The result of an operation that changes nothing in place is dropped."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.kinds import kind
from rldebug.syntax.names import dotted, library, method, receiver
from rldebug.syntax.places import above

_ON_TENSORS = """
to cuda cpu detach clone float double half long int bool clamp clip unsqueeze squeeze reshape view permute transpose
flatten astype contiguous masked_fill softmax sum mean
"""
_METHODS = frozenset(_ON_TENSORS.split())
_OF_LIBRARIES = "clamp clip squeeze unsqueeze reshape transpose permute flatten where stack concatenate cat abs exp log"
_FUNCTIONS = frozenset(_OF_LIBRARIES.split())


@dataclass(frozen=True, kw_only=True)
class ResultDropped(Rule):
    """The result of an operation that changes nothing in place is dropped.

    ## What it checks
    A line that is only `x.to(device)`, `x.detach()`, `x.clamp(…)`, `x.float()`, `torch.clamp(…)`, `np.clip(…)` and
    the like, on a tensor or array, or `os.path.join(…)`. Read from the source; networks are left alone, since
    `net.to(device)` moves the network itself.

    ## Why it matters
    The line does nothing: the tensor stays where it was, with its gradient, its dtype and its range.

    ## Likely causes
    1. `x = ` is missing. Confirm: print the tensor after the line.
    2. The form in place was meant, such as `clamp_`. Confirm: the same.

    ## What to try first
    `x = x.to(device)`.

    ## When it is fine
    Nothing that is known of.

    ## References
    CKP-10 of bench/bugs. PyTorch, *torch.Tensor.to*.
    """

    code: ClassVar[str] = "PRE603"
    name: ClassVar[str] = "result-dropped"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("PRE406",)

    def check(self, evidence: Source) -> Iterator[Finding]:
        for node in ast.walk(evidence.tree):
            if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)) or _caught(evidence, node):
                continue
            call = node.value
            subject = _subject(evidence, call)
            if subject is not None:
                kept = evidence.quoted(subject)
                whole = f"{kept} = {evidence.quoted(call)}"
                yield self.finding(
                    f"the result of {evidence.quoted(call.func)}() is dropped: {kept} stays as it was",
                    where=evidence.at(node),
                    seen=evidence.quoted(call),
                    expected=whole,
                    help=whole,
                    confidence=0.95,
                )


def _subject(source: Source, call: ast.Call) -> ast.expr | None:
    """What a line without effect was meant to change."""
    package, _, last = library(source, call).rpartition(".")
    if package == "os.path" and last == "join":
        return call.args[0] if call.args else None
    if package in ("torch", "numpy"):
        inside = last in _FUNCTIONS and call.args and not any(each.arg == "out" for each in call.keywords)
        return call.args[0] if inside and dotted(call.args[0]) else None
    inner = receiver(call)
    if package or inner is None or method(call) not in _METHODS or not dotted(inner):
        return None
    return inner if kind(source, inner) in ("tensor", "array") and not call.keywords else None


def _caught(source: Source, node: ast.AST) -> bool:
    """Whether a line is there to see if it fails: in a test, or under `try`."""
    for each in above(source, node):
        if isinstance(each, ast.Try):
            return True
        if isinstance(each, ast.With):
            names = {dotted(item.context_expr.func) for item in each.items if isinstance(item.context_expr, ast.Call)}
            if any(name.endswith(("raises", "warns", "suppress", "assertRaises")) for name in names):
                return True
    return False
