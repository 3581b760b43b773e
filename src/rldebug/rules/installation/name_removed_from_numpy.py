"""A name is used that NumPy no longer has."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.names import dotted, resolved
from rldebug.syntax.places import above

_PLAIN = {"float": "float", "int": "int", "object": "object", "complex": "complex", "str": "str", "unicode": "str"}
_INSTEAD = _PLAIN | {
    "bool8": "bool_",
    "float_": "float64",
    "complex_": "complex128",
    "unicode_": "str_",
    "longfloat": "longdouble",
    "singlecomplex": "complex64",
    "cfloat": "complex128",
    "round_": "round",
    "mat": "asmatrix",
    "string_": "bytes_",
    "Inf": "inf",
    "Infinity": "inf",
    "PINF": "inf",
    "infty": "inf",
    "NaN": "nan",
    "product": "prod",
    "cumproduct": "cumprod",
    "alltrue": "all",
    "sometrue": "any",
}


@dataclass(frozen=True, kw_only=True)
class NameRemovedFromNumpy(Rule):
    """A name is used that NumPy no longer has.

    ## What it checks
    `np.float`, `np.int`, `np.object`, `np.bool8`, `np.float_`, `np.NaN`, `np.Inf` and their like, which were removed in
    NumPy 1.24 or 2.0. Read from the source.

    ## Why it matters
    The line raises an AttributeError as soon as it is reached, which may be at the end of the first episode.

    ## Likely causes
    1. Code written for an older NumPy. Confirm: `python -c 'import numpy; print(numpy.__version__)'`.

    ## What to try first
    The plain name: `float`, `int`, `np.nan`; `rldebug lint --fix` writes it.

    ## When it is fine
    With an old NumPy that is pinned.

    ## References
    NumPy, *NumPy 2.0 migration guide*.
    """

    code: ClassVar[str] = "INS640"
    name: ClassVar[str] = "name-removed-from-numpy"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("INS402",)

    def check(self, evidence: Source) -> Iterator[Finding]:
        for node in ast.walk(evidence.tree):
            if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
                continue
            package, _, name = resolved(evidence, node).rpartition(".")
            instead = _INSTEAD.get(name)
            if package != "numpy" or instead is None or _guarded(evidence, node):
                continue
            text = instead if name in _PLAIN else f"{node.value.id}.{instead}"
            yield self.finding(
                f"{evidence.quoted(node)} is no longer in NumPy",
                where=evidence.at(node),
                seen=evidence.quoted(node),
                expected=text,
                help=f"write {text}",
                confidence=0.95,
                edits=(evidence.replaced(node, text),),
            )


def _guarded(source: Source, node: ast.AST) -> bool:
    """In a `try`, or under a condition that asks for a version or for the name: somebody has thought of it."""
    inner = node
    for each in above(source, node):
        if isinstance(each, ast.Try) and inner in each.body:
            return True
        if isinstance(each, ast.If | ast.IfExp) and _asks(each.test):
            return True
        inner = each
    return False


def _asks(test: ast.expr) -> bool:
    names = [dotted(each) for each in ast.walk(test) if isinstance(each, ast.Name | ast.Attribute)]
    return any(name == "hasattr" or "version" in name.lower() or name.endswith("TYPE_CHECKING") for name in names)
