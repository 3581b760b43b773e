"""rldebug explain: the page of a rule, a metric or a probe."""

from __future__ import annotations

from typing import Annotated

import typer


def explain(
    entry: Annotated[
        str, typer.Argument(metavar="CODE|NAME", help="ENT001, entropy-collapse, policy/entropy_rel, delayed-reward …")
    ],
) -> None:
    """Print the page of a rule, a metric or a probe.

    What it checks, likely causes, what to try first, when it is fine, and its thresholds.
    """
    from rldebug import catalogue
    from rldebug.render.explain import print_page

    print_page(catalogue.find(entry))
