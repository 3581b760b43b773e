"""The sections of a page, in order: the diagnosis first, loss curves last."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from rldebug.render.sections import (
    about,
    clips,
    comparison,
    diagnosis,
    distributions,
    frames,
    gradient_flow,
    graph,
    hyperparameters,
    learning,
    metrics,
    probes,
    tables,
    time,
    trace,
)
from rldebug.render.shown import Section, Shown, details, e

Sections = Callable[[Shown, Sequence[Shown]], Iterable[Section]]

SHELF: tuple[Sections, ...] = (
    about.sections,
    diagnosis.sections,
    comparison.sections,
    probes.sections,
    learning.sections,
    trace.sections,
    metrics.sections,
    gradient_flow.sections,
    distributions.sections,
    time.sections,
    graph.sections,
    hyperparameters.sections,
    frames.sections,
    clips.sections,
    tables.sections,
    metrics.losses,
)


def sections(main: Shown, others: Sequence[Shown] = ()) -> list[Section]:
    """All that there is to show of a run, beside others. A section that fails says so in its place."""
    if others:
        main = replace(main, partings=comparison.partings(main, others))
    return [each for of in SHELF for each in _safely(of, main, others)]


def _safely(of: Sections, main: Shown, others: Sequence[Shown]) -> Iterator[Section]:
    try:
        yield from of(main, others)
    except Exception:
        name = of.__module__.rpartition(".")[2]
        said = details(f"rldebug's own section {name} failed", f"<pre>{e(traceback.format_exc())}</pre>")
        yield Section(f"failed-{name}", f"{name}: not drawn", f'<div class="problem">{said}</div>')
