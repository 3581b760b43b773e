"""rldebug demo: a planted bug, named."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLES = """
rldebug demo
rldebug demo --html demo.html --json demo.json
"""
PAGE = "tutorial.md"


def demo(
    html: Annotated[Path, typer.Option(metavar="FILE", help="Where the page goes.")] = Path("rldebug-demo.html"),
    json: Annotated[str | None, typer.Option(metavar="FILE", help="Write the report as JSON; - is stdout.")] = None,
) -> None:
    """Train a PPO with a planted bug, and name the bug.

    Its healthy twin is trained beside it, and must be clean. Writes the page of the broken run.

    Exit status: 0 the bug was named and the twin is clean, 1 not so, 2 could not run.
    """
    from rldebug.demo import show

    raise typer.Exit(show(html, json))
