"""A timing as one HTML file that opens offline: what would make it faster, and where the time went.

Python chooses and arranges; `profile_page.js` draws. Whatever comes from the user (names, files, calls) is escaped.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rldebug.evidence.timing import PARTS, Timing
from rldebug.finding import Report, thousands
from rldebug.render.page import diagnosis, text_of
from rldebug.render.profile import advice, gpu, launches, machine, nothing_to_advise, samples_learned, together, waits
from rldebug.render.profile_chart import flame, gpu_over_time, hues, iteration, over_time
from rldebug.render.profile_rows import Row, brief, in_seconds, rate, rows
from rldebug.render.profile_tables import (
    by_line,
    by_network,
    code,
    e,
    empty,
    environments,
    growing,
    section,
    source_line,
    table,
    yardstick,
)
from rldebug.render.terminal import count, gain, place


def write_profile_page(timing: Timing, report: Report, file: Path) -> None:
    file.write_text(page(timing, report), encoding="utf-8")


def page(timing: Timing, report: Report) -> str:
    host, card = over_time(timing), gpu_over_time(timing)
    stacks, one = flame(timing), iteration(timing)
    parts = [[name, *hue] for name, hue in hues(timing).items()]
    data = {"parts": parts, "flame": stacks, "iteration": one, "charts": [*host, *card]}
    title = report.title or "Where the time went"
    body = "".join(
        [
            _header(title, timing),
            _advice(timing, report),
            diagnosis(report),
            _parts(timing),
            _iteration(timing, one),
            _flame(timing, stacks),
            _over_time(host),
            _gpu(timing, card, first=len(host)),
            by_network(timing),
            by_line(timing),
            growing(timing),
            environments(timing),
            yardstick(timing),
        ]
    )
    policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"  # nothing may be fetched
    plain = json.dumps(data, allow_nan=False, ensure_ascii=True, separators=(",", ":"))
    plain = plain.replace("<", "\\u003c")  # a name cannot close the script it stands in
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>rldebug · {e(title)}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<style>{text_of('page.css')}{text_of('profile_page.css')}</style></head><body><main>{body}</main>"
        f'<script type="application/json" id="timing">{plain}</script>'
        f"<script>{text_of('profile_page.js')}</script></body></html>"
    )


# ── what was found ──────────────────────────────────────────────────────────────────────────────────────────────────


def _header(title: str, timing: Timing) -> str:
    def often(number: int) -> str:
        return f"{rate(number / timing.seconds)} per second" if timing.seconds > 0 else ""

    learned = samples_learned(timing)
    facts = {
        "training": brief(timing.seconds),
        "start-up, not counted": brief(timing.start_up) if timing.start_up else "",
        "env steps": _two(thousands(timing.env_steps), often(timing.env_steps)),
        "updates": _two(thousands(timing.updates), often(timing.updates)),
        "samples learned": _two(f"≈ {thousands(learned)}", often(learned)) if learned else "",
        "machine": " · ".join(machine(timing)),
        "sampled": f"every {brief(timing.interval)}" if timing.interval else "",
        "watching took": brief(timing.own) if timing.own else "",
    }
    cells = "".join(f"<div><dt>{e(name)}</dt><dd>{e(value)}</dd></div>" for name, value in facts.items() if value)
    problems = "".join(f'<p class="problem">{e(each)}</p>' for each in timing.problems)
    head = f'<p class="tool">rldebug profile</p><h1>{e(title)}</h1>'
    return f'<header>{head}<dl class="facts">{cells}</dl>{problems}</header>'


def _advice(timing: Timing, report: Report) -> str:
    found = advice(report)
    if not found:
        return section(
            "faster",
            "What would make it faster",
            f'<p class="verdict">{e(nothing_to_advise(timing).capitalize())}.</p>',
        )
    lines = []
    for each in found:
        speedup = each.speedup or 1.0
        lines.append(
            f'<li><b>{gain(speedup)}</b>{_left(speedup)}<span><a href="#{e(each.code)}">{e(each.code)}</a> '
            f'{e(each.message)}<span class="where">{e(place(each.where))}</span></span></li>'
        )
    if len(found) > 1:
        speedup = together(found)
        lines.append(
            f'<li class="all"><b>{gain(speedup)}</b>{_left(speedup)}<span>all of them together, about</span></li>'
        )
    return section(
        "faster",
        "What would make it faster",
        f'<p>How many times as fast the whole run would be. The bar is the time that is left.</p><ol class="advice">'
        f"{''.join(lines)}</ol>",
    )


def _left(speedup: float) -> str:
    return f'<span class="left"><i style="width:{100 / max(speedup, 1.0):.1f}%"></i></span>'


# ── where the time went ─────────────────────────────────────────────────────────────────────────────────────────────


def _parts(timing: Timing) -> str:
    found = rows(timing)
    if not found:
        return section("parts", "By part", empty("No samples were taken."))
    colours = hues(timing)
    most = max(each.percent for each in found) or 1.0
    cells = "".join(_part(each, colours.get(each.name, (210, 8)), most) for each in found)
    return section("parts", "By part", f'<p>All of the {brief(timing.seconds)}.</p><div class="parts">{cells}</div>')


def _part(row: Row, hue: tuple[int, int], most: float) -> str:
    soft, within = (" soft", " within") if row.within else ("", "")
    bar = "" if row.within else f'<i style="--h:{hue[0]};--s:{hue[1]}%;width:{100 * row.percent / most:.2f}%"></i>'
    return (
        f'<span class="name{within}" title="{e(PARTS.get(row.name, ""))}">{e(row.name)}</span>'
        f'<span class="bar">{bar}</span>'
        f'<span class="number{soft}">{row.percent:.1f} %</span>'
        f'<span class="number wide{soft}">{in_seconds(row.seconds)}</span>'
        f'<span class="number wide soft">{e(row.per)}</span>'
        f'<span class="wide">{code(row.spot, name=not row.within)}</span>'
    )


def _iteration(timing: Timing, drawn: dict[str, Any] | None) -> str:
    title = "One iteration"
    if drawn is None:
        why = (
            "Nothing was learned, so that there is no iteration." if not timing.updates else "None was recorded whole."
        )
        return section("one-iteration", title, empty(why))
    cut = f" Only its first {brief(drawn['seconds'])} are drawn." if drawn["cut"] else ""
    return section(
        "one-iteration",
        title,
        f"<p>{brief(drawn['seconds'])}, as they were sampled; ticks are what happened.{cut}</p>"
        '<div class="tools"><button id="iteration-whole" disabled>all of it</button>'
        "drag to look closer, double-click to go back</div>"
        '<div id="iteration" role="img" aria-label="one iteration, by part"></div>',
    )


def _flame(timing: Timing, drawn: dict[str, Any] | None) -> str:
    title = "Stacks"
    if drawn is None:
        return section("stacks", title, empty("No samples were taken."))
    threads = {each.thread for each in timing.slices} - {0}
    others = (
        f" {count(len(threads), 'other thread')} {'is' if len(threads) == 1 else 'are'} left out." if threads else ""
    )
    return section(
        "stacks",
        title,
        f"<p>The outermost call is on top; width is time. Your own functions are bold.{others}</p>"
        '<div class="tools"><input id="flame-search" type="search" placeholder="search function or file" '
        'aria-label="search function or file"><button id="flame-whole" disabled>all of it</button>'
        '<span id="flame-said"></span></div><div id="flame" role="img" aria-label="flame graph"></div>',
    )


def _over_time(charts: Sequence[dict[str, Any]]) -> str:
    if not charts:
        why = "The run was too short for more than one look at its pace."
        return section("over-time", "Over the run", empty(why))
    return section("over-time", "Over the run", _curves(charts))


def _curves(charts: Sequence[dict[str, Any]], first: int = 0) -> str:
    tiles = []
    for where, each in enumerate(charts, first):
        title, unit = e(each["title"]), e(each["unit"].lstrip("/s"))
        tiles.append(
            f'<figure class="{"whole" if each.get("stacked") else ""}"><figcaption><b>{title}</b>'
            f'<span class="unit">{unit}</span></figcaption>'
            f'<div class="curves" data-curves="{where}" role="img" aria-label="{title}"></div></figure>'
        )
    return f'<div class="tiles broad">{"".join(tiles)}</div>'


def _gpu(timing: Timing, charts: Sequence[dict[str, Any]], first: int) -> str:
    said = dict(gpu(timing)).get("GPU", "")
    if not timing.host.gpu and not said:
        return section("gpu", "GPU", empty("No GPU."))
    html = f"<p><b>{e(timing.host.gpu)}</b> {e(said or 'nothing could be read of it')}</p>"
    if words := launches(timing.kernels):
        html += f"<p>{e(words)}</p>"
    if timing.syncs:
        lines = [
            (code(each.spot), source_line(timing, each.spot), e(each.what), f"{each.per_update:.3g}")
            for each in waits(timing)
        ]
        html += "<h3>Lines at which the host waited for it</h3>"
        html += table(("line", "", "what", "times per update"), lines, numbers=(3,))
    return section("gpu", "GPU", html + (_curves(charts, first) if charts else ""))


def _two(first: str, second: str) -> str:
    return f"{first}, {second}" if second else first
