"""The backward graph of an early update."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rldebug.render.shown import Section, Shown


def sections(main: Shown, others: Sequence[Shown]) -> Iterator[Section]:
    if main.graph:
        lead = "<p>From the losses down to the parameters that they reach; long chains are folded.</p>"
        yield Section("graph", "The backward graph", f'{lead}<div class="scroll graph" tabindex="0">{main.graph}</div>')
