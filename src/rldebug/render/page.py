"""The report as one HTML file that opens offline: diagnosis first, loss curves last.

Python chooses and arranges; `page.js` draws, when a chart comes into view; `page.css` has the looks. Whatever comes
from a run or a docstring is escaped: metric names and run names are the user's, and may hold anything.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from markdown_it import MarkdownIt  # rich brings it

from rldebug import catalogue
from rldebug.diagnose import derive
from rldebug.evidence.folder import title_of
from rldebug.evidence.learning import Learning, learning
from rldebug.evidence.run import Run, Series
from rldebug.finding import Finding, Report, thousands
from rldebug.metrics.activation import LAYER_COLUMNS
from rldebug.metrics.step import PARAMETER_COLUMNS
from rldebug.render.chart import curve as curve_of
from rldebug.render.chart import heat, number, spark, thin
from rldebug.render.explain import rule_page
from rldebug.render.program import lines
from rldebug.render.terminal import count, gain, headline, place

GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Environment and episodes", ("episode", "env", "reward", "rollout", "obs", "action", "replay")),
    ("Policy and exploration", ("policy", "exploration")),
    ("Values and targets", ("value", "target", "target_net")),
    ("Advantages", ("advantage",)),
    ("Batches", ("batch",)),
    ("Gradients, steps and weights", ("grad", "step", "weight", "optimizer", "noise")),
    ("Network", ("layers",)),
    ("Pace and machine", ("pace", "host", "gpu")),
    ("Your own metrics", ()),
    ("Losses", ("loss",)),
)
"""Families of metrics in the order of the page. Losses come last: they say little in RL, and are looked at first."""

_MOMENTS = ("mean", "std", "min", "max")
_EVIDENCE = 3  # charts inside a finding

Chart = Callable[[dict[str, Any], str], str]


def write_page(report: Report, run: Run, file: Path) -> None:
    file.write_text(page(report, run), encoding="utf-8")


def page(report: Report, run: Run) -> str:
    run = derive(run, {})
    specs: list[dict[str, Any]] = []

    def chart(spec: dict[str, Any], label: str) -> str:
        specs.append(spec)
        kind, place = spec["kind"], len(specs) - 1
        return f'<div class="chart {kind}" data-chart="{place}" role="img" aria-label="{_e(label)}"></div>'

    title = title_of(run)
    body = "".join(
        [
            _header(title, run),
            verdict(report, run, chart),
            _learning(learning(run), report, run, chart),
            _trace(run, chart),
            "".join(_group(name, families, report, run, chart) for name, families in GROUPS[:-1]),
            _heat_maps(run, chart),
            _table_section("Parameters", "parameters", PARAMETER_COLUMNS, run),
            _table_section("Layers", "layers", LAYER_COLUMNS, run),
            _group(*GROUPS[-1], report, run, chart),
        ]
    )
    from plotly.offline import get_plotlyjs

    # Nothing may be fetched, whatever a name or a docstring says.
    policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
    data = json.dumps({"updates": run.updates, "charts": specs}, allow_nan=False, ensure_ascii=True)
    data = data.replace("<", "\\u003c")  # a name cannot close the script it stands in
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>rldebug · {_e(title)}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<style>{text_of('page.css')}</style></head><body><main>{body}</main>"
        f'<script type="application/json" id="charts">{data}</script>'
        f"<script>{get_plotlyjs()}</script><script>{text_of('page.js')}</script></body></html>"
    )


# ── diagnosis ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _header(title: str, run: Run) -> str:
    meta = run.meta
    env = meta.get("env")
    versions = meta.get("versions")
    facts = {
        "environment": env.get("id") if isinstance(env, Mapping) else None,
        # Of the whole run, where they were counted: the last reading may lie long before its end.
        "updates": thousands(max(run.updates, int(meta.get("updates") or 0))),
        "env steps": thousands(max(run.env_steps, int(meta.get("env_steps") or 0))),
        "seconds": meta.get("seconds"),
        "state": meta.get("state"),
        "seed": meta.get("seed"),
        "γ": meta.get("gamma"),
        "started": meta.get("started"),
        "commit": str(meta["git"])[:10] if meta.get("git") else None,
        "versions": " ".join(f"{k} {v}" for k, v in versions.items()) if isinstance(versions, Mapping) else None,
    }
    cells = "".join(f"<div><dt>{_e(k)}</dt><dd>{_e(v)}</dd></div>" for k, v in facts.items() if v not in (None, ""))
    crash = f'<p class="problem">The run ended with {_e(meta["error"])}</p>' if meta.get("error") else ""
    return f'<header><p class="tool">rldebug</p><h1>{_e(title)}</h1><dl class="facts">{cells}</dl>{crash}</header>'


def verdict(report: Report, run: Run, chart: Chart) -> str:
    suspects = "".join(
        f'<li><span class="name">{_e(each.component)}</span>'
        f'<span class="bar"><i style="width:{each.score:.0%}"></i></span>'
        f'<span class="score">{each.score:.2f}</span> <span class="codes">{_e(" ".join(each.codes))}</span></li>'
        for each in report.suspects
    )
    found, looked = headline(report)
    computes = "".join(f"<li>{_e(each)}</li>" for each in lines(report.program)) if report.program else ""
    return (
        '<section id="diagnosis"><h2>Diagnosis</h2>'
        f'<p class="verdict {"clean" if report.clean else "guilty"}"><b>{_e(found)}</b>{_e(looked)}</p>'
        + (f'<h3>Suspects</h3><ol class="suspects">{suspects}</ol>' if suspects else "")
        + "".join(_finding(each, report, run, chart) for each in report.roots)
        + (f'<h3>What the program computes</h3><ul class="program">{computes}</ul>' if computes else "")
        + "".join(f'<p class="problem">{_e(each)}</p>' for each in report.problems)
        + "".join(
            f'<details class="problem"><summary>rldebug\'s own {_e(name)} failed and was switched off</summary>'
            f"<pre>{_e(trace)}</pre></details>"
            for name, trace in report.broken.items()
        )
        + _unchecked(report)
        + "</section>"
    )


def _finding(finding: Finding, report: Report, run: Run, chart: Chart) -> str:
    faster = "" if finding.speedup is None else f"<dt>gain</dt><dd>the whole run {gain(finding.speedup)} as fast</dd>"
    followers = [each for each in report.folded if finding.code in each.follows]
    folded = "".join(
        f"<li><b>{_e(each.code)}</b> {_e(each.message)} <em>{_e(each.name)}</em><br><span>{_e(each.seen)}</span></li>"
        for each in followers
    )
    rule = _rule(finding.code)
    needs = [each for need in (rule.needs if rule else ()) for each in run.each(need) if _still(each) is None]
    tiles = "".join(_tile(each, report, chart) for each in needs[:_EVIDENCE])
    return (
        f'<article class="finding {_e(finding.severity)}" id="{_e(finding.code)}">'
        f'<h3><span class="severity">{_e(finding.severity)}[{_e(finding.code)}]</span> {_e(finding.message)} '
        f"<em>{_e(finding.name)}</em></h3>"
        f'<p class="where">{_e(place(finding.where))}</p>'
        f'<dl class="block"><dt>seen</dt><dd>{_e(finding.seen)}</dd><dt>expected</dt><dd>{_e(finding.expected)}</dd>'
        f'{faster}<dt class="help">help</dt><dd>{_e(finding.help)}</dd></dl>'
        + (f'<div class="tiles">{tiles}</div>' if tiles else "")
        + (_details(f"{count(len(followers), 'finding')} folded under it", f"<ul>{folded}</ul>") if folded else "")
        + (_details(f"the page of {finding.code}", _markdown(rule_page(rule))) if rule else "")
        + "</article>"
    )


def _unchecked(report: Report) -> str:
    reasons: dict[str, list[str]] = {}
    for code, reason in report.skipped.items():
        reasons.setdefault(reason, []).append(code)
    rows = "".join(
        f"<tr><td>{_e(reason)}</td><td>{', '.join(_named(code) for code in codes)}</td></tr>"
        for reason, codes in sorted(reasons.items(), key=lambda each: -len(each[1]))
    )
    table = f'<div class="scroll"><table><tr><th>lacked</th><th>rules</th></tr>{rows}</table></div>'
    skipped = _details(f"{count(len(report.skipped), 'rule')} could not run, and what each lacked", table)
    ran = ", ".join(_named(code) for code in report.checked)
    return (skipped if rows else "") + _details(f"{count(len(report.checked), 'rule')} ran", f"<p>{ran}</p>")


def _details(title: str, html: str) -> str:
    return f"<details><summary>{_e(title)}</summary>{html}</details>"


# ── learning ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _learning(curve: Learning | None, report: Report, run: Run, chart: Chart) -> str:
    if curve is None:
        return ""
    series = run[curve.name].finite
    spec = {**curve_of(series, x=series.env_step), "kind": "return", "marks": _marks(report.roots, env_steps=True)}
    if curve.moved:
        spec |= {"plateau": number(curve.plateau), "half": curve.half, "most": curve.most}
        fast = [
            f"{share}: not reached" if steps is None else f"<b>{thousands(steps)}</b> env steps to {share} of the way"
            for share, steps in (("half", curve.half), ("90 %", curve.most))
        ]
    else:
        fast = ["no way made: the end is within the noise of the start"]
    if curve.moved and curve.plateau < curve.start:
        fast.append("downwards: it unlearns")
    level = "level at the end" if curve.settled else "still moving at the end: the plateau is yet to come"
    far = f"<b>{curve.plateau:.4g}</b> ± {curve.noise:.2g}, from {curve.start:.4g}<br>{level}"
    return (
        '<section id="learning"><h2>How fast it learns, and where it levels out</h2>'
        f'<div class="pair"><div><h3>How fast</h3><p>{"<br>".join(fast)}</p></div>'
        f"<div><h3>How far</h3><p>{far}</p></div></div>"
        f'<h4>{_e(curve.name)} <span class="unit">over env steps</span></h4>{chart(spec, curve.name)}</section>'
    )


def _trace(run: Run, chart: Chart) -> str:
    latest = next((each for each in reversed(run.readings) if "trace/value" in each.traces), None)
    if latest is None:
        return ""
    spec = {
        "kind": "trace",
        "value": [number(each) for each in latest.traces["trace/value"]],
        "reward": [number(each) for each in latest.traces.get("trace/reward", ())],
        "end": [number(each) for each in latest.traces.get("trace/end", ())],
    }
    return (
        '<section id="trace"><h2>A recent episode, as the critic saw it</h2>'
        f"<p>One environment, the newest steps before update {thousands(latest.update)}. Healthy: value climbs towards "
        "rewards, and drops as they are collected. Dotted lines end an episode; dashed ones cut it off.</p>"
        f"{chart(spec, 'value trace')}</section>"
    )


# ── metrics ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _group(name: str, families: Sequence[str], report: Report, run: Run, chart: Chart) -> str:
    known = {each for _, group in GROUPS for each in group}
    chosen = {
        key: series
        for key, series in run.series.items()
        if (_family(key) in families if families else _family(key) not in known)
        and not key.endswith("fingerprint")  # equal or not is all there is to them
    }
    blamed = _blamed(report)
    tiles, still = [], []
    order = {family: place for place, family in enumerate(families)}
    for key in sorted(chosen, key=lambda each: (_base(each) not in blamed, order.get(_family(each), 0), each)):
        moment = next((each for each in _MOMENTS if _base(key).endswith((f"/{each}", f"_{each}"))), "")
        stem, optimizer = _base(key).removesuffix(moment), key[len(_base(key)) :]
        whole = [f"{stem}{each}{optimizer}" for each in _MOMENTS]
        if moment and all(each in chosen for each in whole):
            if moment == "mean":  # mean, std, min and max are one picture
                tiles.append(_tile(chosen[key], report, chart, low=chosen[whole[2]], high=chosen[whole[3]]))
        elif (words := _still(chosen[key])) is not None and _base(key) not in blamed:
            still.append(words)
        else:
            tiles.append(_tile(chosen[key], report, chart))
    if not tiles and not still:
        return ""
    drawn = f'<div class="tiles">{"".join(tiles)}</div>' if tiles else ""
    rest = f'<p class="still">{" · ".join(still)}</p>' if still else ""
    return f"<section><h2>{_e(name)}</h2>{drawn}{rest}</section>"


def _still(series: Series) -> str | None:
    """In words, where there is no curve to draw: one reading, always the same, or never defined."""
    values = series.finite.value
    if not len(values):
        return f"<b>{_e(series.name)}</b> undefined in all {len(series)} readings"
    if len(series) == len(values) and (values == values[0]).all():
        return f"<b>{_e(series.name)}</b> {values[0]:.6g}" + (" throughout" if len(values) > 1 else " (one reading)")
    return None


def _tile(series: Series, report: Report, chart: Chart, low: Series | None = None, high: Series | None = None) -> str:
    metric = catalogue.metric_named(_base(series.name))
    blaming = _blamed(report).get(_base(series.name), [])
    finite = series.finite
    infinite, undefined = int(np.isinf(series.value).sum()), int(np.isnan(series.value).sum())
    first = metric is not None and metric.name == _base(series.name)  # unit and shape are those of the first name
    spec = {**curve_of(finite), "kind": "line", "marks": _marks(blaming)}
    if low is not None and high is not None:
        at, floor = thin(low.update, low.value)
        _, ceiling = thin(high.update, high.value, like=low.value)
        spec["band"] = {"x": at, "low": floor, "high": ceiling}
    last = f"{finite.last:.4g}" if len(finite) else "–"
    codes = "".join(f'<a href="#{_e(each.code)}" class="{_e(each.severity)}">{_e(each.code)}</a>' for each in blaming)
    bad = f'<span class="bad">{infinite} infinite</span>' if infinite else ""
    bad += f'<span class="unit">{undefined} undefined</span>' if undefined else ""
    healthy = f'<p class="healthy">{_e(metric.healthy)}</p>' if metric and metric.healthy and first else ""
    hint = f' title="{_e(metric.summary())}"' if metric else ""
    return (
        f'<figure><figcaption{hint}><b>{_e(series.name)}</b><span class="last">{_e(last)}</span>'
        f'<span class="unit">{_e(metric.unit if metric and first else "")}</span>{codes}{bad}</figcaption>'
        f"{chart(spec, series.name) if len(finite) > 1 else ''}{healthy}</figure>"
    )


def _heat_maps(run: Run, chart: Chart) -> str:
    names = sorted({name for each in run.readings for name in each.histograms})
    tiles = []
    for name in names:
        at = [each for each in run.readings if name in each.histograms]
        spec = heat([each.update for each in at], [each.histograms[name] for each in at])
        if spec is not None:
            metric = catalogue.metric_named(_base(name))
            unit = _e(metric.unit) if metric else ""
            tiles.append(
                f'<figure class="wide"><figcaption><b>{_e(name)}</b><span class="unit">{unit}</span></figcaption>'
                f"{chart(spec, name)}</figure>"
            )
    if not tiles:
        return ""
    return f'<section><h2>Distributions over time</h2><div class="tiles">{"".join(tiles)}</div></section>'


def _table_section(title: str, name: str, columns: Sequence[str], run: Run) -> str:
    names = sorted({key for each in run.readings for key in each.tables if _base(key) == name})
    rows = []
    for key in names:
        history = run.table(key)
        latest, cells = history[-1]
        for row, values in cells.items():
            first = [each[row][0] for _, each in history if row in each]
            numbers = "".join(f"<td>{_cell(value)}</td>" for value in values[: len(columns)])
            rows.append(f"<tr><th>{_e(row)}</th><td>{spark(first)}</td>{numbers}</tr>")
    if not rows:
        return ""
    titles = [each.replace("_", " ") for each in columns]
    heads = "".join(f"<th>{_e(each)}</th>" for each in titles)
    return (
        f"<section><h2>{_e(title)}</h2>"
        f"<p>As of update {thousands(latest.update)}; the line is {_e(titles[0])} over the run, from 0.</p>"
        f'<div class="scroll"><table class="numbers"><tr><th></th><th></th>{heads}</tr>{"".join(rows)}</table></div>'
        "</section>"
    )


# ── pieces ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _marks(findings: Iterable[Finding], env_steps: bool = False) -> list[dict[str, Any]]:
    places = ((each, each.where.env_step if env_steps else each.where.update) for each in findings)
    return [{"x": at, "code": each.code, "severity": each.severity} for each, at in places if at is not None]


def _blamed(report: Report) -> dict[str, list[Finding]]:
    """By metric, the findings of the rules that read it."""
    found: dict[str, list[Finding]] = {}
    for finding in report.findings:
        rule = _rule(finding.code)
        for need in rule.needs if rule else ():
            if finding not in found.setdefault(need, []):
                found[need].append(finding)
    return found


def _rule(code: str) -> Any:
    return next((each for each in catalogue.rules() if each.code == code), None)


def _named(code: str) -> str:
    rule = _rule(code)
    name, summary = (rule.name, rule.summary()) if rule else ("", "")
    return f'<span class="entry-name" title="{_e(summary)}">{_e(code)} {_e(name)}</span>'


def _markdown(text: str) -> str:
    """HTML inside the text stays text, and only harmless links become links."""
    html: str = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    return f'<div class="entry">{html}</div>'


def _cell(value: float) -> str:
    return "–" if math.isnan(value) else _e(f"{value:.3g}")


def _family(name: str) -> str:
    return name.partition("/")[0].partition("@")[0]


def _base(name: str) -> str:
    return name.partition("@")[0]


def _e(value: object) -> str:
    return escape(str(value), quote=True)


def text_of(name: str) -> str:
    return files("rldebug.render").joinpath(name).read_text(encoding="utf-8")
