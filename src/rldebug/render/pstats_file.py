"""Where the time went, as a file of Python's own profilers: pstats reads it, and snakeviz and tuna draw it.

Seconds are those of the samples. In the place of calls stand samples: how often a function was seen.
"""

from __future__ import annotations

import ast
import marshal
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from rldebug.evidence.source import Source
from rldebug.evidence.timing import Spot, Timing

Function = tuple[str, int, str]
Numbers = tuple[int, int, float, float]  # calls that are no recursion, calls, seconds in itself, seconds in all
Stats = dict[Function, tuple[int, int, float, float, dict[Function, Numbers]]]

PROGRAM: Function = ("~", 0, "<the program>")
"""Calls everything else: tuna begins with what nobody calls, and may find no such function in a program of threads."""


def write_pstats(timing: Timing, file: str | Path) -> None:
    Path(file).write_bytes(marshal.dumps(pstats_of(timing)))


def pstats_of(timing: Timing) -> Stats:
    name = _names(timing)
    own: dict[Function, list[float]] = defaultdict(lambda: [0, 0.0, 0.0])  # samples, in itself, in all
    edges: dict[Function, dict[Function, list[float]]] = defaultdict(lambda: defaultdict(lambda: [0, 0.0, 0.0]))
    for each in timing.slices:
        calls = [PROGRAM, *(name[spot] for spot in each.stack)]
        _add(own[calls[-1]], 0, each.seconds, 0.0)
        for place, function in enumerate(calls):
            if function in calls[:place]:
                continue  # calls itself, maybe through others: its time is counted already
            inside = each.seconds if function == calls[-1] else 0.0
            _add(own[function], each.samples, 0.0, each.seconds)
            if place:
                _add(edges[function][calls[place - 1]], each.samples, inside, each.seconds)
    return {
        function: (*_numbers(told), {caller: _numbers(each) for caller, each in edges[function].items()})
        for function, told in own.items()
    }


def _add(row: list[float], samples: int, inside: float, seconds: float) -> None:
    row[0] += samples
    row[1] += inside
    row[2] += seconds


def _numbers(row: list[float]) -> Numbers:
    return int(row[0]), int(row[0]), row[1], row[2]


def _names(timing: Timing) -> dict[Spot, Function]:
    """A profiler names the line that a function begins at. Where its text is not known, the first that was seen."""
    spots = {spot for each in timing.slices for spot in each.stack}
    first: dict[tuple[str, str], int] = {}
    for spot in spots:
        key = (spot.file, spot.function)
        first[key] = min(spot.line, first.get(key, spot.line))
    begins = lru_cache(maxsize=None)(lambda file: _functions(timing.source(file)))
    found = {}
    for spot in spots:
        line = 1 if spot.function == "<module>" else first[spot.file, spot.function]
        last = spot.function.rpartition(".")[2]
        inside = [
            (end - start, start) for start, end, name in begins(spot.file) if name == last and start <= spot.line <= end
        ]
        found[spot] = (spot.file, min(inside)[1] if inside else line, spot.function)
    return found


def _functions(source: Source | None) -> list[tuple[int, int, str]]:
    return [] if source is None else list(_walk(source.tree))


def _walk(tree: ast.AST) -> Iterator[tuple[int, int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield node.lineno, node.end_lineno or node.lineno, getattr(node, "name", "<lambda>")
