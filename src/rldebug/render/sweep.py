"""A sweep in a terminal: one line for each algorithm on each environment, and what failed."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from rldebug.campaign.task import Failed
from rldebug.finding import thousands
from rldebug.render.terminal import console, count


def print_bands(rows: Sequence[Mapping[str, Any]]) -> None:
    """`rows`: bands, as they are written as JSON."""
    out = console()
    if not rows:
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("algorithm")
    table.add_column("environment")
    for each in ("steps", "seeds", "return", "95 % of the mean", "lowest … highest", "random"):
        table.add_column(each, justify="right")
    for row in rows:
        between = row["interval"]
        table.add_row(
            row["algorithm"],
            row["env_id"],
            thousands(row["steps"]),
            str(len(row["returns"])),
            Text(_number(row["mean"]), style="bold"),
            f"{_number(between[0])} … {_number(between[1])}" if between else "needs two seeds",
            f"{_number(row['lowest'])} … {_number(row['highest'])}",
            _number(row["random"]) if row["random"] is not None else "",
        )
    if not out.is_terminal:
        out.width = max(out.width, 120)
    out.print(table)


def print_failed(failed: Mapping[str, Failed]) -> None:
    for name, each in failed.items():
        print(f"failed: {name}: {each.reason}", file=sys.stderr)
    if failed:
        print(f"{count(len(failed), 'task')} failed; the same command tries again", file=sys.stderr)


def report_progress(done: int, of: int, task: Any, result: Any) -> None:
    """One line for each task, on stderr."""
    if isinstance(result, Failed):
        told = f"failed: {result.reason}"
    elif isinstance(result, Mapping) and "return" in result:
        told = f"return {_number(result['return'])} ({result['seconds']:.0f} s)"
    else:
        told = "done"
    print(f"[{done}/{of}] {task}: {told}", file=sys.stderr, flush=True)


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:,.1f}" if abs(value) < 1000 else f"{value:,.0f}"
