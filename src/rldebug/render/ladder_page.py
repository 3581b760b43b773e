"""The ladder as one HTML file that opens offline: the diagnosis, every rung, and pictures of what was learned.

Nothing here moves, so there is no script. Whatever comes from the user (names, reasons) is escaped.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

import numpy as np

from rldebug.evidence.ladder import Array, Attempt, Ladder, Rung
from rldebug.finding import Report, thousands
from rldebug.render.page import diagnosis, text_of
from rldebug.render.probe import (
    ASIDE,
    MARKS,
    SAID,
    TROUBLED,
    discounts,
    ends_of,
    figure,
    learned,
    lengths,
    mistakes,
    reasons,
    share,
    some,
    span,
    tally,
)
from rldebug.render.progress import short

_LOOKS = 16  # rows of one picture
_WIDTH, _NAMES, _NUMBERS = 350, 84, 102  # of a picture: in all, left of the bars, right of them
_HEAD, _ROW = 14, 22  # heights: of its first line, of one look
_STYLE = """
.tally { margin: 10px 0 0; padding: 0; list-style: none; display: flex; flex-wrap: wrap; gap: 4px 18px; }
.passed { --tone: var(--good); } .failed { --tone: var(--error); } .undecided { --tone: var(--warning); }
.crashed { --tone: var(--reward); } .not-run, .not-applicable { --tone: var(--soft); }
.outcome { color: var(--tone); font-weight: 600; white-space: nowrap; }
.seed { display: inline-block; width: 18px; margin-right: 2px; border-radius: 3px; text-align: center;
  color: var(--tone); background: color-mix(in srgb, var(--tone) 16%, transparent); }
table.ladder { width: 100%; }
table.ladder td, table.ladder th { padding: 5px 14px 5px 0; }
table.ladder .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
table.ladder td:first-child { color: var(--soft); padding-right: 8px; }
table.ladder .what { display: block; color: var(--soft); font-size: 12.5px; }
table.ladder tr.failed td { background: color-mix(in srgb, var(--error) 7%, transparent); }
.rungs { display: grid; grid-template-columns: repeat(auto-fill, minmax(330px, 1fr)); gap: 14px; margin: 12px 0; }
.rungs figure { border-top: 4px solid var(--tone); }
.rungs p { margin: 2px 0 6px; color: var(--soft); font-size: 13px; }
.rungs p.mistake { color: var(--ink); font-weight: 600; }
.rungs figcaption .outcome { font-size: 13px; }
svg.picture { display: block; width: 100%; max-width: 440px; height: auto; margin: 4px 0 8px; }
svg.picture text { fill: var(--ink); font: 11px system-ui, -apple-system, "Segoe UI", sans-serif; }
svg.picture .soft { fill: var(--soft); font-size: 10px; }
svg.picture .axis { stroke: var(--line); stroke-width: 1; }
svg.picture .learned { fill: var(--raw); }
svg.picture .seed-dot { fill: var(--bold); }
svg.picture .right { stroke: var(--ink); stroke-width: 2.5; }
svg.picture .best { fill: none; stroke: var(--ink); stroke-width: 2; }
svg.picture .curve { fill: none; stroke: var(--tone); stroke-width: 1.6; }
.key { color: var(--soft); font-size: 13px; }
@media (max-width: 600px) {
  .rungs { grid-template-columns: 1fr; }
  table.ladder thead { display: none; }
  table.ladder, table.ladder tbody { display: block; }
  table.ladder tr { display: flex; flex-wrap: wrap; gap: 0 12px; align-items: baseline; padding: 6px;
    border-bottom: 1px solid var(--line); }
  table.ladder td, table.ladder .number { padding: 0; border: 0; background: none !important; text-align: left; }
  table.ladder tr.failed { background: color-mix(in srgb, var(--error) 7%, transparent); }
  table.ladder td:first-child { width: 20px; text-align: right; }
  table.ladder .name { flex-basis: calc(100% - 40px); }
  table.ladder .reason { flex-basis: 100%; }
}
"""


def write_page(ladder: Ladder, report: Report, path: Path) -> None:
    path.write_text(page(ladder, report), encoding="utf-8")


def page(ladder: Ladder, report: Report) -> str:
    body = "".join([_header(ladder), _diagnosis(report), _ladder(ladder), _pictures(ladder)])
    policy = "default-src 'none'; style-src 'unsafe-inline'"  # nothing may be fetched, whatever a name says
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>rldebug · {_e(ladder.target)}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<style>{text_of('page.css')}{_STYLE}</style></head><body><main>{body}</main></body></html>"
    )


# ── words ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _header(ladder: Ladder) -> str:
    counts = "".join(
        f'<li class="{_class(outcome)}"><span class="outcome">{MARKS[outcome][0]} {_e(words)}</span></li>'
        for outcome, words in tally(ladder)
    )
    told = "".join(f"<li>{_e(each)}</li>" for each in (*discounts(ladder), *lengths(ladder)))
    return (
        f'<header><p class="tool">rldebug probe</p><h1>{_e(ladder.target)}</h1>'
        f'<ul class="tally">{counts}<li>{span(ladder.seconds)}</li></ul>'
        + (f'<ul class="tally">{told}</ul>' if told else "")
        + "</header>"
    )


def _diagnosis(report: Report) -> str:
    """As in the page of a run; rules that read the ladder have no curves to draw."""
    return diagnosis(report)


def _ladder(ladder: Ladder) -> str:
    rows = "".join(_row(each) for each in ladder.rungs if each.outcome not in ASIDE)
    aside = "".join(
        f'<p class="still"><b>{MARKS[outcome][0]} {_e(SAID.get(outcome, outcome))}</b>: {_e(" · ".join(which))}</p>'
        for outcome in ASIDE
        if (which := reasons(ladder.rungs, outcome))
    )
    heads = "".join(
        f'<th class="{kind}">{head}</th>'
        for head, kind in (
            ("", ""), ("rung", ""), ("outcome", ""), ("seeds", ""), ("asks", ""), ("steps", "number"),
            ("time", "number"), ("why", ""),
        )
    )  # fmt: skip
    return (
        '<section id="ladder"><h2>The ladder</h2>'
        f'<div class="scroll"><table class="ladder"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>'
        f"{aside}</section>"
    )


def _row(rung: Rung) -> str:
    seeds = "".join(
        f'<span class="seed {_class(each.outcome)}" title="seed {each.seed}: {_e(each.outcome)}, {_e(each.reason)}">'
        f"{MARKS[each.outcome][0]}</span>"
        for each in rung.attempts
    )
    steps, seconds = sum(each.steps for each in rung.attempts), sum(each.seconds for each in rung.attempts)
    return (
        f'<tr class="{_class(rung.outcome)}"><td class="number">{rung.number}</td>'
        f'<td class="name"><a href="#rung-{_e(rung.name)}">{_e(rung.name)}</a>'
        f'<span class="what">{_e(rung.title)}</span></td>'
        f'<td><span class="outcome">{MARKS[rung.outcome][0]} {_e(rung.outcome)}</span></td><td>{seeds}</td>'
        f'<td>{_e(rung.asks)}</td><td class="number">{thousands(steps)}</td><td class="number">{span(seconds)}</td>'
        f'<td class="reason">{_whole(rung.reason)}</td></tr>'
    )


def _pictures(ladder: Ladder) -> str:
    """Trouble first and in full view; what passed is folded away, unless there is nothing else."""
    troubled = [each for each in ladder.rungs if each.outcome in TROUBLED]
    passed = [each for each in ladder.rungs if each.outcome == "passed"]
    if not troubled and not passed:
        return ""
    opened = "" if troubled else " open"
    return (
        '<section id="pictures"><h2>What was learned</h2>'
        '<p class="key">Bars are what was learned, dots the single seeds, upright lines the right answer. Framed: the '
        "best actions. Below: how far off each seed was as it learned, from 0 (right) to 1 (nothing learned).</p>"
        + (f'<div class="rungs">{"".join(map(_card, troubled))}</div>' if troubled else "")
        + (
            f"<details{opened}><summary>{len(passed)} passed</summary>"
            f'<div class="rungs">{"".join(map(_card, passed))}</div></details>'
            if passed
            else ""
        )
        + "</section>"
    )


def _card(rung: Rung) -> str:
    last = rung.deciding
    forbidden = last.forbidden if last is not None else None
    return (
        f'<figure class="{_class(rung.outcome)}" id="rung-{_e(rung.name)}">'
        f"<figcaption><b>{rung.number} {_e(rung.name)}</b>"
        f'<span class="outcome">{MARKS[rung.outcome][0]} {_e(rung.outcome)}</span></figcaption>'
        f"<p>{_e(rung.title)}</p>"
        + _answer(rung)
        + (f'<p class="mistake">A known mistake leads to just this: {_e(mistakes(rung))}</p>' if rung.matched else "")
        + (f"<p>{share(forbidden)} of the actions lately were not allowed</p>" if forbidden else "")
        + _curves(rung.attempts)
        + (f"<p>{_whole(rung.reason)}</p>" if rung.outcome != "passed" else "")
        + "</figure>"
    )


# ── pictures ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _answer(rung: Rung) -> str:
    """Learned beside right, as the rung asks for it."""
    last = rung.deciding
    value, policy, right = learned(rung, "value"), learned(rung, "policy"), rung.right
    if rung.asks == "value" and value is not None and right is not None:
        tables = [each.value for each in rung.attempts if each.value is not None]
        return _bars(rung.looks, value, right, tables)
    if rung.asks == "policy" and policy is not None and right is not None:
        if policy.shape[1] == 1 and rung.choices is not None:
            ends = float(rung.choices[0]), float(rung.choices[-1])
            tables = [each.policy[:, 0] for each in rung.attempts if each.policy is not None]
            return _bars(rung.looks, policy[:, 0], right[:, 0], tables, ends)
        return _chances(rung.looks, policy, right, rung.choices)
    if rung.returns is not None and last is not None and last.returns is not None:
        got = np.array([each.returns for each in rung.attempts if each.returns is not None])
        return _bars(
            ("return",), np.array([last.returns]), np.array([rung.returns[1]]), list(got[:, None]), rung.returns
        )
    return ""


def _bars(
    looks: Sequence[str], value: Array, right: Array, seeds: Sequence[Array], ends: tuple[float, float] | None = None
) -> str:
    """A row for each look: a bar from 0 to what was learned. With `ends`: between these, and no bar but the dots."""
    shown = some(len(looks), _LOOKS)
    low, high = ends or ends_of(right, value, *seeds)
    x = _scale(low, high, _NAMES, _WIDTH - _NUMBERS)
    height = _HEAD + len(shown) * _ROW
    marks = [(0.0, "middle")] if ends is None else [(low, "start"), (high, "end")]
    parts = [_words(x(at), 10, short(at), anchor, soft=True) for at, anchor in marks]
    parts += [_words(_WIDTH - 44, 10, "learned", soft=True), _words(_WIDTH - 2, 10, "right", soft=True)]
    if ends is None:
        parts.append(_line("axis", x(0.0), _HEAD, x(0.0), height))
    for row, i in enumerate(shown):
        top = _HEAD + row * _ROW
        middle = top + _ROW / 2
        parts.append(_words(_NAMES - 8, middle + 4, _cut(looks[i])))
        if ends is None:
            begin, end = sorted((x(0.0), x(value[i])))
            box = f'x="{begin:.1f}" y="{top + 4}" width="{max(end - begin, 0.8):.1f}" height="{_ROW - 8}" rx="2"'
            parts.append(f'<rect class="learned" {box}/>')
        else:
            parts.append(_line("axis", x(low), middle, x(high), middle))
        parts += [f'<circle class="seed-dot" cx="{x(each[i]):.1f}" cy="{middle}" r="2.5"/>' for each in seeds]
        parts.append(_line("right", x(right[i]), top + 2, x(right[i]), top + _ROW - 2))
        parts.append(_words(_WIDTH - 44, middle + 4, figure(value[i], high - low)))
        parts.append(_words(_WIDTH - 2, middle + 4, figure(right[i], high - low), soft=True))
    said = [f"{looks[i]} {short(value[i])}, right {short(right[i])}" for i in shown]
    return _svg(height, "".join(parts), "; ".join(said)) + _left_out(looks)


def _chances(looks: Sequence[str], policy: Array, right: Array, choices: Array | None) -> str:
    """A field for each look and action, the darker the likelier; the best ones framed."""
    shown = some(len(looks), _LOOKS)
    actions = policy.shape[1]
    labels = [f"{each:g}" for each in (range(actions) if choices is None else choices)]
    wide = (_WIDTH - _NAMES) / actions
    parts = [_words(_NAMES - 8, 10, "action", soft=True)]
    parts += [_words(_NAMES + (j + 0.5) * wide, 10, label, "middle", soft=True) for j, label in enumerate(labels)]
    for row, i in enumerate(shown):
        top = _HEAD + row * _ROW
        parts.append(_words(_NAMES - 8, top + _ROW / 2 + 4, _cut(looks[i])))
        for j in range(actions):
            left, chance = _NAMES + j * wide, float(policy[i, j])
            box = f'x="{left + 2:.1f}" y="{top + 2}" width="{wide - 4:.1f}" height="{_ROW - 4}" rx="3"'
            parts.append(f'<rect class="learned" {box} fill-opacity="{max(min(chance, 1.0), 0.0):.2f}"/>')
            if right[i, j] > 0:
                parts.append(f'<rect class="best" {box}/>')
            parts.append(_words(left + wide / 2, top + _ROW / 2 + 4, f"{chance:.0%}", "middle"))
    said = [
        f"{looks[i]}: " + ", ".join(f"action {labels[j]} {policy[i, j]:.0%}" for j in range(actions)) for i in shown
    ]
    return _svg(_HEAD + len(shown) * _ROW, "".join(parts), "; ".join(said)) + _left_out(looks)


def _left_out(looks: Sequence[str]) -> str:
    left = len(looks) - len(some(len(looks), _LOOKS))
    return f"<p>… and {left} between them</p>" if left else ""


def _curves(attempts: Sequence[Attempt]) -> str:
    """The error over steps, a line for each seed. Steps on a logarithmic scale: they are looked at ever more rarely."""
    finite = [(each, [(at, error) for at, error in each.history if math.isfinite(error)]) for each in attempts]
    drawn = [(each, points) for each, points in finite if len(points) > 1]
    if not drawn:
        return ""
    steps = [at for _, points in drawn for at, _ in points]
    first, last = max(min(steps), 1), max(steps)
    largest = max(error for _, points in drawn for _, error in points)
    top = min(max(largest, 0.2), 2.0)  # beyond twice as bad as nothing learned, how bad does not matter
    x, y = _scale(math.log(first), math.log(last), _NAMES, _WIDTH - 8), _scale(0.0, top, 84, 8)
    parts, said = [], []
    for at, words in ((0.0, "0 right"), (1.0, "1 off") if top >= 1.0 else (top, f"{top:.2f} off")):
        parts.append(_line("axis", _NAMES, y(at), _WIDTH - 8, y(at)))
        parts.append(_words(_NAMES - 8, y(at) + 3, words, soft=True))
    for number, (each, points) in enumerate(drawn):
        places = " ".join(f"{x(math.log(max(at, 1))):.1f},{y(error):.1f}" for at, error in points)
        dash = f' stroke-dasharray="{(number + 1) * 2} 3"' if number else ""
        parts.append(f'<polyline class="curve {_class(each.outcome)}"{dash} points="{places}"/>')
        said.append(f"seed {each.seed}: off by {points[0][1]:.2g} at first, {points[-1][1]:.2g} last")
    parts.append(_words(_NAMES, 98, thousands(first), "start", soft=True))
    parts.append(_words(_WIDTH - 8, 98, f"{thousands(last)} steps", soft=True))
    return _svg(102, "".join(parts), "; ".join(said))


def _scale(low: float, high: float, begin: float, end: float) -> Callable[[float], float]:
    """From [low, high] to places in the picture; what lies beyond stands at the edge."""
    extent = (high - low) or 1.0
    return lambda value: begin + (end - begin) * min(max((value - low) / extent, 0.0), 1.0)


def _svg(height: float, inside: str, label: str) -> str:
    box = f'viewBox="0 0 {_WIDTH} {height:g}"'
    return f'<svg class="picture" {box} role="img" aria-label="{_e(label)}">{inside}</svg>'


def _words(x: float, y: float, words: str, anchor: str = "end", *, soft: bool = False) -> str:
    kind = ' class="soft"' if soft else ""
    return f'<text{kind} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{_e(words)}</text>'


def _line(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _cut(look: str) -> str:
    return look if len(look) <= 12 else look[:11] + "…"


def _whole(reason: str) -> str:
    """Escaped, and 4 352 stays on one line."""
    return re.sub(r"(?<=\d) (?=\d{3}\b)", "&nbsp;", _e(reason))


def _class(outcome: str) -> str:
    return outcome.replace(" ", "-")


def _e(value: object) -> str:
    return escape(str(value), quote=True)
