"""rldebug diff: where two runs part."""

from __future__ import annotations

from typing import Annotated

import typer

from rldebug.commands.completion import runs as completed

EXAMPLES = """
rldebug diff ppo ppo-2                   # the same seed twice
rldebug diff --tolerance 1e-4 cpu cuda   # look past float noise
"""
PAGE = "how-to/read-a-report.md"


def diff(
    run_a: Annotated[
        str,
        typer.Argument(metavar="RUN_A", help="A run folder, or a name under .rldebug/runs.", autocompletion=completed),
    ],
    run_b: Annotated[
        str, typer.Argument(metavar="RUN_B", help="The run to compare it with.", autocompletion=completed)
    ],
    tolerance: Annotated[
        float, typer.Option(min=0.0, help="Relative difference that counts as equal: 1e-4 looks past float noise.")
    ] = 0.0,
) -> None:
    """Say where two runs part, and which metric parted first.

    Two runs with the same seed should not part at all. Where one is broken, the first metric that differs is near the
    bug: what differs below it follows from it.

    Exit status: 0 the same, 1 they part, 2 could not compare.
    """
    from rldebug.evidence.diff import compare
    from rldebug.evidence.folder import open_run
    from rldebug.render.diff import print_comparison

    comparison = compare(open_run(run_a), open_run(run_b), tolerance)
    print_comparison(comparison)
    raise typer.Exit(1 if comparison.parting else 0)
