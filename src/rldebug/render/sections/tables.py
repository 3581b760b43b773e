"""Parameters, layers, and the gradients at layers, row by row, as they were last."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rldebug.finding import thousands
from rldebug.render.chart import spark
from rldebug.render.shown import Section, Shown, base, e

_SHOWN = (("Parameters", "parameters"), ("Layers", "layers"), ("Gradients at the outputs of layers", "layer_gradients"))


def sections(main: Shown, others: Sequence[Shown]) -> Iterator[Section]:
    for title, name in _SHOWN:
        columns = main.known.columns.get(name, ())
        keys = sorted({key for each in main.run.readings for key in each.tables if base(key) == name})
        rows = []
        for key in keys:
            history = main.run.table(key)
            latest, cells = history[-1]
            for row, values in cells.items():
                first = [each[row][0] for _, each in history if each.get(row)]
                numbers = "".join(f"<td>{_cell(value)}</td>" for value in values[: len(columns) or None])
                rows.append(f"<tr><th>{e(row)}</th><td>{spark(first)}</td>{numbers}</tr>")
        if not rows:
            continue
        titles = [each.replace("_", " ") for each in columns]
        heads = "".join(f"<th>{e(each)}</th>" for each in titles)
        line = f"; the line is {e(titles[0])} over the run, from 0" if titles else ""
        yield Section(
            f"table-{name.replace('_', '-')}",
            title,
            f"<p>As of update {thousands(latest.update)}{line}.</p>"
            f'<div class="scroll" tabindex="0"><table class="numbers"><tr><td></td><td></td>{heads}</tr>'
            f"{''.join(rows)}</table></div>",
        )


def _cell(value: float) -> str:
    return "–" if math.isnan(value) else e(f"{value:.3g}")
