"""rldebug metrics: every metric there is."""

from __future__ import annotations

from typing import Annotated

import typer

EXAMPLES = """
rldebug metrics
rldebug metrics --json > metrics.json
"""
PAGE = "how-to/watch-a-loop.md"


def metrics(
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List every metric, and the call it comes from.

    `rldebug explain NAME` tells what one means, and where it lies in healthy runs.

    Exit status: 0 listed.
    """
    from rldebug import catalogue
    from rldebug.render.listing import metric_record, print_json, print_metrics

    if json:
        print_json([metric_record(each) for each in catalogue.metrics()])
    else:
        print_metrics(catalogue.metrics())
