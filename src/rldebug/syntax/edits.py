"""Changes of the text that mend it: one expression in place of another."""

from __future__ import annotations

import ast

from rldebug.evidence.source import Source
from rldebug.finding import Edit


def replaced(source: Source, node: ast.expr, text: str) -> tuple[Edit, ...]:
    """The change that puts a text in the place of an expression."""
    if node.end_lineno is None or node.end_col_offset is None:
        return ()
    start = source.at(node)
    # Columns of the parser count bytes.
    before_end = source.lines[node.end_lineno - 1].encode()[: node.end_col_offset].decode(errors="replace")
    return (Edit(start.line or 1, start.column or 1, node.end_lineno, len(before_end) + 1, text),)
