"""One reading as a small chart: its curve in every run that is shown, the healthy band, what was found about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from rldebug.evidence.run import Series
from rldebug.finding import Finding, Report
from rldebug.render.bands import band
from rldebug.render.chart import curve, number, thin
from rldebug.render.shown import Draw, Shown, base, e


def still(series: Series) -> str | None:
    """In words, where there is no curve to draw: one reading or two, always the same, or never defined."""
    values = series.finite.value
    if not len(values):
        return f"<b>{e(series.name)}</b> undefined in all {len(series)} readings"
    if len(series) == len(values) == 2 and values[0] != values[1]:
        return f"<b>{e(series.name)}</b> {values[0]:.4g}, then {values[1]:.4g}"
    if len(series) == len(values) and (values == values[0]).all():
        return f"<b>{e(series.name)}</b> {values[0]:.6g}" + (" throughout" if len(values) > 1 else " (one reading)")
    return None


def tile(name: str, main: Shown, draw: Draw, others: Sequence[Shown] = (), spread: Sequence[str] = ()) -> str:
    """`spread`: the names of its lowest and highest in each reading, where they were recorded too."""
    series, note = main.run[name], main.known.metric(base(name))
    finite = series.finite
    blaming = blamed(main).get(base(name), [])
    curves = [curve(finite)] + [
        {**curve(each.run[name].finite), "run": place}
        for place, each in enumerate(others, 1)
        if name in each.run.series
    ]
    spec: dict[str, Any] = {"kind": "line", "curves": curves, "marks": [*marks(blaming), *main.partings]}
    if spread and not others:
        low, high = (main.run[each] for each in spread)
        at, floor = thin(low.update, low.value)
        _, ceiling = thin(high.update, high.value, like=low.value)
        spec["spread"] = {"x": at, "low": floor, "high": ceiling}
    healthy = _healthy(name, main)
    if healthy is not None:
        spec["healthy"] = healthy
    infinite, undefined = int(np.isinf(series.value).sum()), int(np.isnan(series.value).sum())
    last = f"{finite.last:.4g}" if len(finite) else "–"
    codes = "".join(f'<a href="#{e(each.code)}" class="{e(each.severity)}">{e(each.code)}</a>' for each in blaming)
    bad = f'<span class="bad">{infinite} infinite</span>' if infinite else ""
    bad += f'<span class="unit">{undefined} undefined</span>' if undefined else ""
    words = f'<p class="healthy">{e(note.healthy)}</p>' if note.healthy else ""
    hint = f' title="{e(note.summary)}"' if note.summary else ""
    drawn = draw(spec, name) if any(len(each["x"]) > 1 for each in curves) else ""
    return (
        f'<figure><figcaption{hint}><b>{e(name)}</b><span class="last">{e(last)}</span>'
        f'<span class="unit">{e(note.unit)}</span>{codes}{bad}</figcaption>{drawn}{words}</figure>'
    )


def _healthy(name: str, main: Shown) -> dict[str, Any] | None:
    """In which range it lay in healthy runs of the same kind of algorithm, at the same share of the run."""
    known = band(main.family, base(name))
    if known is None:
        return None
    low, high = list(known.low), list(known.high)
    if main.going_on:  # nobody knows yet how long it will be
        low, high = [min(low)] * len(low), [max(high)] * len(high)
    at = [round(share * max(main.run.updates - 1, 1)) for share in known.share]
    return {"x": at, "low": [number(each) for each in low], "high": [number(each) for each in high], "runs": known.runs}


def marks(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    return [
        {"update": each.where.update, "env_step": each.where.env_step, "code": each.code, "severity": each.severity}
        for each in findings
        if each.where.update is not None or each.where.env_step is not None
    ]


def blamed(shown: Shown) -> dict[str, list[Finding]]:
    """By metric, the findings of the rules that read it."""
    found: dict[str, list[Finding]] = {}
    for finding in _findings(shown.report):
        for need in shown.known.rule(finding.code).needs:
            if finding not in found.setdefault(need, []):
                found[need].append(finding)
    return found


def _findings(report: Report | None) -> Sequence[Finding]:
    return report.findings if report is not None else ()
