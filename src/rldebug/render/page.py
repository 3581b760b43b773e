"""The report as one HTML file that opens offline: diagnosis first, loss curves last.

The sections choose and arrange; `page.js` draws, when a chart comes into view; `page.css` has the looks.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from rldebug.diagnose import derive
from rldebug.evidence.run import Run
from rldebug.finding import Report
from rldebug.render.known import known_of
from rldebug.render.sections.diagnosis import verdict
from rldebug.render.sections.shelf import sections
from rldebug.render.shown import Section, Shown, e


def write_page(shown: Shown, file: Path, others: Sequence[Shown] = ()) -> None:
    file.write_text(page(shown, others), encoding="utf-8")


def page(main: Shown, others: Sequence[Shown] = ()) -> str:
    from plotly.offline import get_plotlyjs

    made = sections(main, others)
    # Nothing may be fetched, whatever a name or a docstring says.
    policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
    data = json.dumps({"extent": extent((main, *others)), "charts": charts(made)}, allow_nan=False, ensure_ascii=True)
    data = data.replace("<", "\\u003c")  # a name cannot close the script it stands in
    head, *rest = made
    legend = runs((main, *others)) if others else ""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>rldebug · {e(main.title)}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f'<style>{text_of("page.css")}</style></head><body><a class="skip" href="#diagnosis">to the diagnosis</a>'
        f'<div class="frame"><nav aria-label="sections">{contents(rest)}</nav><main>'
        f'<header id="run"><p class="tool">rldebug</p><h1>{e(head.title)}</h1>{legend}{head.html}</header>'
        f"{''.join(as_html(each) for each in rest)}</main></div>"
        f'<script type="application/json" id="charts">{data}</script>'
        f"<script>{get_plotlyjs()}</script><script>{text_of('page.js')}</script></body></html>"
    )


def bare(report: Report, run: Run) -> Shown:
    """Of what was recorded only the readings, and what was found."""
    return Shown(derive(run, {}), known_of(report), report)


def diagnosis(report: Report) -> str:
    """For pages of other evidence than a run."""
    return as_html(Section("diagnosis", "Diagnosis", verdict(report, bare(report, Run.of([])), lambda spec, label: "")))


def as_html(section: Section) -> str:
    return f'<section id="{e(section.id)}"><h2>{e(section.title)}</h2>{section.html}</section>'


def contents(made: Iterable[Section]) -> str:
    links = "".join(f'<li><a href="#{e(each.id)}">{e(each.title)}</a></li>' for each in made)
    return f'<details open><summary>on this page</summary><ul class="contents">{links}</ul></details>'


def runs(shown: Sequence[Shown]) -> str:
    """Which colour is which run."""
    chips = "".join(f'<li><i class="run-{place % 6}"></i>{e(each.title)}</li>' for place, each in enumerate(shown))
    return f'<ul class="runs" aria-label="runs">{chips}</ul>'


def charts(made: Iterable[Section]) -> dict[str, Any]:
    return {f"{each.id}.{place}": spec for each in made for place, spec in enumerate(each.charts)}


def extent(shown: Sequence[Shown]) -> dict[str, int]:
    """How far the axes reach."""
    return {
        "update": max(each.run.updates for each in shown),
        "env_step": max(each.run.env_steps for each in shown),
    }


def text_of(name: str) -> str:
    return files("rldebug.render").joinpath(name).read_text(encoding="utf-8")
