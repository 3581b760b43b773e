"""How fast it learns, and where it levels out: two questions with different causes, kept apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rldebug.evidence.learning import Learning, learning
from rldebug.finding import thousands
from rldebug.render.chart import curve as curve_of
from rldebug.render.chart import number
from rldebug.render.sections.tiles import marks
from rldebug.render.shown import Charts, Section, Shown, e


def sections(main: Shown, others: Sequence[Shown]) -> Iterator[Section]:
    curve = learning(main.run)
    if curve is None:
        return
    charts = Charts("learning")
    beside = [(place, each) for place, each in enumerate(others, 1) if curve.name in each.run.series]
    curves = [curve_of(main.run[curve.name].finite)]
    curves += [{**curve_of(each.run[curve.name].finite), "run": place} for place, each in beside]
    found = marks(main.report.roots if main.report else ())
    spec: dict[str, Any] = {"kind": "return", "curves": curves, "marks": [*found, *main.partings]}
    if curve.moved:
        spec |= {"plateau": number(curve.plateau), "half": curve.half, "most": curve.most}
    rows = "".join(_row(each.title, learning(each.run)) for each in (main, *(each for _, each in beside)))
    table = (
        '<div class="scroll" tabindex="0"><table class="numbers"><tr><th>run</th><th>half of the way</th>'
        f"<th>90 % of it</th><th>from</th><th>to</th><th></th></tr>{rows}</table></div>"
    )
    yield charts.done(
        "How fast it learns, and where it levels out",
        (table if beside else _in_words(curve))
        + f'<h3 class="small">{e(curve.name)} <span class="unit">over env steps</span></h3>{charts(spec, curve.name)}',
    )


def _in_words(curve: Learning) -> str:
    if curve.moved:
        fast = [
            f"{share}: not reached" if steps is None else f"<b>{thousands(steps)}</b> env steps to {share} of the way"
            for share, steps in (("half", curve.half), ("90 %", curve.most))
        ]
    else:
        fast = ["no way made: the end is within the noise of the start"]
    if curve.moved and curve.plateau < curve.start:
        fast.append("downwards: it unlearns")
    far = f"<b>{curve.plateau:.4g}</b> ± {curve.noise:.2g}, from {curve.start:.4g}<br>{_level(curve)}"
    return (
        f'<div class="pair"><div><h3>How fast</h3><p>{"<br>".join(fast)}</p></div>'
        f"<div><h3>How far</h3><p>{far}</p></div></div>"
    )


def _row(title: str, curve: Learning | None) -> str:
    if curve is None:
        return f'<tr><th>{e(title)}</th><td colspan="5">too few returns to say</td></tr>'
    half, most = ("–" if each is None or not curve.moved else thousands(each) for each in (curve.half, curve.most))
    return (
        f"<tr><th>{e(title)}</th><td>{half}</td><td>{most}</td><td>{curve.start:.4g}</td>"
        f"<td>{curve.plateau:.4g} ± {curve.noise:.2g}</td>"
        f"<td>{_level(curve) if curve.moved else 'no way made'}</td></tr>"
    )


def _level(curve: Learning) -> str:
    return "level at the end" if curve.settled else "still moving at the end: the plateau is yet to come"
