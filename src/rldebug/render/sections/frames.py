"""What the network was given, beside what the environment had shown."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rldebug.evidence.pictures import Look, Side, read_looks
from rldebug.finding import thousands
from rldebug.render.shown import Section, Shown, details, e

_FIRST, _NEWEST = 2, 6  # looks that are shown at once, per network or function
_MORE = 24


def sections(main: Shown, others: Sequence[Shown]) -> Iterator[Section]:
    looks = read_looks(main.folder) if main.folder is not None else []
    by: dict[tuple[str, str], list[Look]] = {}
    for each in looks:
        by.setdefault((each.source, each.name), []).append(each)
    html = ""
    for (source, name), own in by.items():
        shown = own if len(own) <= _FIRST + _NEWEST else own[:_FIRST] + own[-_NEWEST:]
        rest = [each for each in own if each not in shown][-_MORE:]
        what = "was given" if source == "network" else "(preprocess)"
        html += f"<h3>{e(name)} <em>{e(what)}</em></h3>{_grid(shown, main)}"
        if rest:
            html += details(f"{len(rest)} more in between", _grid(rest, main), f"frames {source} {name}")
    if html:
        lead = (
            "<p>Left: the observation as it was. Right: what came out of preprocessing, and into the first layer. What "
            "is no byte is drawn from its lowest to its highest: mind the range below.</p>"
        )
        yield Section("frames", "What the network sees", lead + html)


def _grid(looks: Sequence[Look], main: Shown) -> str:
    cells = "".join(
        f'<figure><div class="sides">{_side(each.before, "before", main)}{_side(each.after, "after", main)}'
        f'</div><figcaption><span class="unit">update {thousands(each.update)} · {thousands(each.env_step)} env '
        "steps</span></figcaption></figure>"
        for each in looks
    )
    return f'<div class="looks">{cells}</div>'


def _side(side: Side, which: str, main: Shown) -> str:
    words = f"{'×'.join(map(str, side.shape)) or 'scalar'} {side.dtype}, {_n(side.low)} to {_n(side.high)}"
    more = f"mean {_n(side.mean)}, std {_n(side.std)}"
    if side.png is not None:
        drawn = f'<img src="{e(main.picture(side.png))}" alt="{e(which)}: {e(words)}" loading="lazy">'
    else:
        drawn = _bars(side.values, f"{which}: {words}")
    return f'<div>{drawn}<p class="unit">{e(words)}<br>{e(more)}</p></div>'


def _bars(values: Sequence[float], label: str) -> str:
    """A vector: one bar an entry, from 0."""
    finite = [each for each in values if math.isfinite(each)]
    most = max((abs(each) for each in finite), default=0.0) or 1.0
    step = 100 / max(len(values), 1)
    bars = "".join(
        f'<rect x="{step * i + 0.1 * step:.2f}" width="{0.8 * step:.2f}" '
        f'y="{30 - max(25 * each / most, 0):.2f}" height="{max(25 * abs(each) / most, 0.3):.2f}"/>'
        if math.isfinite(each)
        else f'<text x="{step * i:.2f}" y="30">!</text>'
        for i, each in enumerate(values)
    )
    box = 'viewBox="0 0 100 60" preserveAspectRatio="none" role="img"'
    return f'<svg class="vector" {box} aria-label="{e(label)}">{bars}</svg>'


def _n(value: float) -> str:
    return f"{value:.3g}"
