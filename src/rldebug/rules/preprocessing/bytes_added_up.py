"""The channels of a picture are added up as bytes, and the sum wraps around."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import reaching
from rldebug.syntax.names import constant, dotted


@dataclass(frozen=True, kw_only=True)
class BytesAddedUp(Rule):
    """The channels of a picture are added up as bytes.

    ## What it checks
    `(frame[..., 0] + frame[..., 1] + frame[..., 2]) // 3`, where frames are `uint8` in this file and nothing has
    converted them before. Read from the source.

    ## Why it matters
    A sum of bytes wraps around at 256: white becomes a dark grey, and a bright thing may come out as black as the
    background. The picture still looks like one.

    ## Likely causes
    1. The mean is computed in the type of the frame. Confirm: put in a white picture; 255 must come out.

    ## What to try first
    `frame.mean(axis=-1)`, which sums in floating point, or `frame.astype(np.float32)` first.

    ## When it is fine
    The frames are converted elsewhere, before they come here.

    ## References
    NumPy, *Array types and conversions*: overflow errors. Seen in the wild: PRE-04 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "PRE607"
    name: ClassVar[str] = "bytes-added-up"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"

    def check(self, evidence: Source) -> Iterator[Finding]:
        if "uint8" not in evidence.text:
            return
        for node in ast.walk(evidence.tree):
            if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv | ast.Div)):
                continue
            channels = _added(node.left)
            if constant(node.right) != len(channels) or len(channels) != 3:
                continue
            frame = _frame(channels)
            if frame is None or not _as_it_came(evidence, frame):
                continue
            yield self.finding(
                f"the channels of {evidence.quoted(frame)} are added up as bytes, and the sum wraps around at 256",
                where=evidence.at(node),
                seen=evidence.quoted(node),
                expected="a sum in a wider type",
                help=f"{evidence.quoted(frame)}.mean(axis=-1), or convert it to floats first",
                confidence=0.88,
            )


def _added(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [*_added(node.left), *_added(node.right)]
    return [node]


def _frame(channels: list[ast.expr]) -> ast.expr | None:
    """The picture whose last axis these are the elements of, each once."""
    frames, numbers = [], set()
    for each in channels:
        if not (isinstance(each, ast.Subscript) and isinstance(each.slice, ast.Tuple) and each.slice.elts):
            return None
        frames.append(each.value)
        numbers.add(constant(each.slice.elts[-1]))
    names = {dotted(each) for each in frames}
    return frames[0] if len(names) == 1 and "" not in names and numbers == {0, 1, 2} else None


def _as_it_came(source: Source, frame: ast.expr) -> bool:
    """A parameter, or what an environment gave: nothing has been done to it on the way."""
    return all(
        each.how == "parameter" or (isinstance(each.value, ast.Call) and not _converts(each.value))
        for each in reaching(source, frame)
    )


def _converts(call: ast.Call) -> bool:
    """Only step, reset, render and the like leave the type alone for certain."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    return name not in ("step", "reset", "render", "observation", "copy")
