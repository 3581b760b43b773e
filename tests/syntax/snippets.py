"""Small texts to ask questions about: the expression that a `# ask` marks is the last one on its line."""

from __future__ import annotations

import ast
from textwrap import dedent

from rldebug.evidence.source import Source, parsed


def text(code: str) -> Source:
    return parsed(dedent(code))


def asked(source: Source) -> ast.expr:
    """The expression statement on the line that ends with `# ask`."""
    line = next(place for place, each in enumerate(source.lines, 1) if each.rstrip().endswith("# ask"))
    return next(node.value for node in ast.walk(source.tree) if isinstance(node, ast.Expr) and node.lineno == line)
