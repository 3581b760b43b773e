"""How gradients and steps are spread over the layers, and how that changes over the run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from rldebug.render.shown import Section, Shown, base, e

_COLUMNS = 40  # of a strip
_ROWS = 48

Row = tuple[str, list[float], list[float]]  # its name; size of its gradient, and log10 of its relative step, over time


def sections(main: Shown, others: Sequence[Shown]) -> Iterator[Section]:
    columns = {name: place for place, name in enumerate(main.known.columns.get("parameters", ()))}
    if not {"grad_norm", "step_norm", "weight_norm"} <= columns.keys():
        return
    rows = list(_rows(main, columns))
    if not rows:
        return
    sizes = [_log(each) for _, gradients, _ in rows for each in gradients]
    low, high = _range(sizes)
    body = "".join(
        f"<tr><th>{e(name)}</th><td>{_strip([_log(each) for each in gradients], low, high)}</td>"
        f"<td>{_last(gradients)}</td><td>{_strip(steps, -6.0, 0.0)}</td><td>{_power(steps)}</td></tr>"
        for name, gradients, steps in rows[:_ROWS]
    )
    rest = f"<p>{len(rows) - _ROWS} more tensors are left out.</p>" if len(rows) > _ROWS else ""
    yield Section(
        "gradient-flow",
        "Gradient flow, by layer",
        "<p>One row per tensor, from the input on; time runs to the right, dark is large "
        f"(gradients: 10<sup>{low:.0f}</sup> to 10<sup>{high:.0f}</sup>; steps: 10<sup>−6</sup> to 1 of the weights). "
        "A gap is a gradient of exactly 0, or none. Healthy: no row fades out or stands apart; steps near 1/1000."
        '</p><div class="scroll" tabindex="0"><table class="numbers flow"><tr><td></td><th>gradient over the run</th>'
        f"<th>last</th><th>step ÷ weights</th><th>last</th></tr>{body}</table></div>{rest}",
    )


def _rows(main: Shown, columns: Mapping[str, int]) -> Iterator[Row]:
    gradient, step, weight = (columns[each] for each in ("grad_norm", "step_norm", "weight_norm"))
    for key in sorted({key for each in main.run.readings for key in each.tables if base(key) == "parameters"}):
        history = main.run.table(key)
        history = history[:: max(len(history) // _COLUMNS, 1)]
        names = dict.fromkeys(row for _, table in history for row in table)
        newest = history[-1][1]
        for name in names:
            if name not in newest:
                continue  # it was called otherwise then
            cells = [table[name] for _, table in history if len(table.get(name, ())) > max(gradient, step, weight)]
            ratios = [each[step] / each[weight] if each[weight] else math.nan for each in cells]
            yield f"{name}{key[len(base(key)) :]}", [each[gradient] for each in cells], [_log(each) for each in ratios]


def _strip(values: Sequence[float], low: float, high: float) -> str:
    width = 100 / max(len(values), 1)
    cells = "".join(
        f'<rect x="{width * i:.1f}" width="{width:.1f}" height="10" opacity="{_shade(each, low, high):.2f}"/>'
        for i, each in enumerate(values)
        if math.isfinite(each)
    )
    return f'<svg class="strip" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">{cells}</svg>'


def _shade(value: float, low: float, high: float) -> float:
    return 0.08 + 0.92 * min(max((value - low) / (high - low), 0.0), 1.0)


def _range(logs: Sequence[float]) -> tuple[float, float]:
    finite = [each for each in logs if math.isfinite(each)]
    low, high = math.floor(min(finite, default=-3.0)), math.ceil(max(finite, default=0.0))
    return max(low, high - 12), max(high, low + 1)


def _log(value: float) -> float:
    return math.log10(value) if 0 < value < math.inf else math.nan


def _last(values: Sequence[float]) -> str:
    return e(f"{values[-1]:.2g}") if values and not math.isnan(values[-1]) else "–"


def _power(logs: Sequence[float]) -> str:
    return e(f"{10 ** logs[-1]:.1g}") if logs and math.isfinite(logs[-1]) else "–"
