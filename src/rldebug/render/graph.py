"""A Graph as SVG: one file, no script, readable at 100 % on light and on dark pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from pathlib import Path

from rldebug.evidence.graph import Box, Graph
from rldebug.finding import thousands
from rldebug.render.graph_layout import ACROSS, DOWN, Layout, layout

Point = tuple[float, float]
Sizes = list[tuple[float, float]]
COLOURS = ("#2f6fde", "#d9730d", "#1f9d5c", "#8b53cf", "#c8437f", "#158a9e")
_MARGIN = 28.0
_WIDE = 30  # characters of a line of operations
_LINES = 3
_SHAPES = 2  # below one box; more would lie over one another
_LOST = 4  # boxes in a row that no loss leads to
_STYLE = """
text{font:12px system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;fill:#1f2430}
.page{fill:#ffffff;stroke:#d9dde5}
.title{font-size:16px;font-weight:600}
.sub,.small{font-size:11px;fill:#667085}
.name{font-size:13px;font-weight:600}
.op{font:11.5px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#3d4555}
.shape{font-size:10px;fill:#667085;paint-order:stroke;stroke:#ffffff;stroke-width:4px;stroke-linejoin:round}
.module{fill:#eef3fc;stroke:#b7c5de}
.operations{fill:#f6f7f9;stroke:#d3d8e0}
.lost{fill:#fdeaea;stroke:#d92d20;stroke-width:1.6;stroke-dasharray:5 3}
.bad{fill:#b42318}
.times{fill:#344054}
.times-text{font-size:11px;font-weight:600;fill:#ffffff}
.loss-text{font-size:13px;font-weight:600;fill:#ffffff}
.arrow{fill:none;stroke-width:1.6}
@media (prefers-color-scheme:dark){
text{fill:#e6e9ef}.page{fill:#151922;stroke:#2c3442}.sub,.small{fill:#98a2b3}.op{fill:#cdd3de}
.shape{fill:#98a2b3;stroke:#151922}.module{fill:#1d2a44;stroke:#3b5480}.operations{fill:#20252f;stroke:#3a4250}
.lost{fill:#3a1a1a;stroke:#f97066}.bad{fill:#fda29b}.times{fill:#d0d5dd}.times-text{fill:#101828}
}
"""


def svg(graph: Graph, title: str = "") -> str:
    """The picture. Raises ImportError where igraph is not installed."""
    lost = [each for each in graph.boxes if each.kind == "module" and each.tensors and not each.losses]
    shown = [i for i, each in enumerate(graph.boxes) if each.losses]
    place = {each: i for i, each in enumerate(shown)}
    boxes = [graph.boxes[each] for each in shown]
    sizes = [_size(each) for each in boxes]
    arrows = [each for each in graph.arrows if each.source in place and each.target in place]
    ends = [(place[each.source], place[each.target]) for each in arrows]
    laid = layout(sizes, ends)
    colours = {each.name: COLOURS[i % len(COLOURS)] for i, each in enumerate(graph.losses)}

    heading = title or "backward graph of " + _listed([each.name for each in graph.losses])
    rows = [lost[i : i + _LOST] for i in range(0, len(lost), _LOST)]
    lost_sizes = [[_size(each) for each in row] for row in rows]
    widest = max((sum(w for w, _ in row) + ACROSS * (len(row) - 1) for row in lost_sizes), default=0.0)
    legend, legend_width = _legend(graph, colours, bool(lost))
    inner = max(laid.width, widest, legend_width, _width(heading, 8.6), _width(_summary(graph), 5.8), 360.0)
    top = _MARGIN + 52.0
    out = [
        f'<text class="title" x="{_MARGIN:g}" y="{_MARGIN + 14:g}">{escape(heading)}</text>',
        f'<text class="sub" x="{_MARGIN:g}" y="{_MARGIN + 32:g}">{escape(_summary(graph))}</text>',
    ]
    left = _MARGIN + (inner - laid.width) / 2
    drawing = [
        _arrow(i, [colours[name] for name in each.losses] or ["#98a2b3"], sizes, ends, laid)
        for i, each in enumerate(arrows)
    ]
    drawing += [_labels(sizes, ends, laid, [each.shape for each in arrows])]
    drawing += [_box(box, size, centre, colours) for box, size, centre in zip(boxes, sizes, laid.centres, strict=True)]
    out.append(f'<g transform="translate({left:.1f} {top:.1f})">{"".join(drawing)}</g>')
    y = top + laid.height + 34
    if lost:
        out.append(f'<text class="name bad" x="{_MARGIN:g}" y="{y:.1f}">no loss leads here</text>')
        y += 14
        for row, measured in zip(rows, lost_sizes, strict=True):
            x, tall = _MARGIN, max(each[1] for each in measured)
            for box, (wide, high) in zip(row, measured, strict=True):
                out.append(_box(box, (wide, high), (x + wide / 2, y + high / 2), colours))
                x += wide + ACROSS
            y += tall + 18
        y += 12
    out.append(f'<g transform="translate({_MARGIN:g} {y:.1f})">{legend}</g>')
    width, height = inner + 2 * _MARGIN, y + 14 + _MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img"><title>{escape(heading)}</title><style>{_STYLE}</style>'
        f"<defs>{_heads(colours)}</defs>"
        f'<rect class="page" x=".5" y=".5" width="{width - 1:.0f}" height="{height - 1:.0f}" rx="10"/>'
        + "".join(out)
        + "</svg>\n"
    )


def write_svg(graph: Graph, file: Path, title: str = "") -> None:
    file.write_text(svg(graph, title), encoding="utf-8")


# ── boxes ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _size(box: Box) -> tuple[float, float]:
    if box.kind == "loss":
        return _width(box.title, 8.2) + 32, 30.0
    if box.kind == "operations":
        lines = _wrapped(box.names)
        return max(_width(each, 7.0) for each in lines) + 24 + _badge(box), 13.0 + 15.0 * len(lines)
    lines = _about(box)
    wide = max(_width(box.title, 7.6) + _badge(box), *(_width(each, 5.9) for each in lines))
    return wide + 34, 30.0 + 15.0 * len(lines)


def _about(box: Box) -> list[str]:
    weights = f"{thousands(box.weights)} weight{'s' * (box.weights != 1)}"
    tensors = f"{weights} in {box.tensors} tensors" if box.tensors > 1 else weights
    rest = [f"keeps {size_in_words(box.saved)}"] if box.saved else []
    rest += [" + ".join(box.optimizers)] if box.optimizers else []
    return [tensors, *([" · ".join(rest)] if rest else [])]


def _box(box: Box, size: tuple[float, float], centre: tuple[float, float], colours: dict[str, str]) -> str:
    wide, high = size
    x, y = centre[0] - wide / 2, centre[1] - high / 2
    own = [colours[each] for each in box.losses if each in colours]
    hint = escape(f"{box.title}: {', '.join(box.losses) or 'no loss leads here'}")
    if box.kind == "loss":
        shape = (
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" rx="{high / 2:g}" fill="{own[0]}"/>'
        )
        text = _text(box.title, centre[0], centre[1] + 4.5, "loss-text", "middle")
        return f"<g><title>{hint}</title>{shape}{text}</g>"
    style = box.kind if box.losses else "lost"
    parts = [
        f'<rect class="{style}" x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" rx="7"/>',
        *(
            f'<rect x="{x + 5:.1f}" y="{y + 6 + i * (high - 12) / len(own):.1f}" width="3.5" '
            f'height="{(high - 12) / len(own):.1f}" rx="1.5" fill="{each}"/>'
            for i, each in enumerate(own)
        ),
    ]
    if box.kind == "operations":
        lines = _wrapped(box.names)
        parts += [_text(each, x + 15, y + 18 + 15 * i, "op") for i, each in enumerate(lines)]
    else:
        parts.append(_text(box.title, x + 17, y + 20, "name" if own else "name bad"))
        parts += [_text(each, x + 17, y + 37 + 15 * i, "small") for i, each in enumerate(_about(box))]
    if box.times > 1:
        count = f"×{thousands(box.times)}"
        across = _width(count, 6.6) + 12
        right = x + wide + 6
        parts.append(
            f'<rect class="times" x="{right - across:.1f}" y="{y - 12:.1f}" width="{across:.1f}" height="17" rx="8.5"/>'
            + _text(count, right - across / 2, y + 0.5, "times-text", "middle")
        )
    return f"<g><title>{hint}</title>{''.join(parts)}</g>"


def _badge(box: Box) -> float:
    return _width(str(box.times), 3.0) + 6 if box.times > 1 else 0.0


def _wrapped(names: Sequence[str]) -> list[str]:
    lines, counted = [""], any("×" in each for each in names)
    for i, name in enumerate(names):
        word = name if i == len(names) - 1 else f"{name}," if counted else f"{name} →"
        if lines[-1] and len(lines[-1]) + len(word) > _WIDE:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    if len(lines) > _LINES:
        lines = [*lines[: _LINES - 1], f"… {lines[-1]}"]
    return lines


# ── arrows ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _arrow(number: int, own: list[str], sizes: Sizes, ends: list[tuple[int, int]], laid: Layout) -> str:
    """In the colours of its losses, side by side."""
    source, target = ends[number]
    if source == target:
        x, y = laid.centres[source][0] + sizes[source][0] / 2, laid.centres[source][1]
        way = f"M{x:.1f} {y - 5:.1f}c24 -10 24 20 2 11"
        return f'<path class="arrow" d="{way}" stroke="{own[0]}" marker-end="url(#h{own[0][1:]})"/>'
    start, end = _ports(number, sizes, ends, laid)
    points = [start, *laid.paths[number], end]
    drawn = []
    for i, colour in enumerate(own):
        shift = 3.0 * (i - (len(own) - 1) / 2)
        d = _curve([(x + shift, y) for x, y in points])
        drawn.append(f'<path class="arrow" d="{d}" stroke="{colour}" marker-end="url(#h{colour[1:]})"/>')
    return "".join(drawn)


def _ports(number: int, sizes: Sizes, ends: list[tuple[int, int]], laid: Layout) -> tuple[Point, Point]:
    """Where an arrow leaves its box, and where it comes in: side by side with the others, in their order."""
    source, target = ends[number]
    down = laid.centres[source][1] < laid.centres[target][1]

    def spread(box: int, outgoing: bool) -> float:
        mine = [i for i, each in enumerate(ends) if each[0 if outgoing else 1] == box and each[0] != each[1]]

        def aim(i: int) -> float:
            path = laid.paths[i]
            if path:
                return path[0 if outgoing else -1][0]
            return laid.centres[ends[i][1 if outgoing else 0]][0]

        mine.sort(key=lambda i: (aim(i), i))
        room = min(sizes[box][0] * 0.6, 26.0 * (len(mine) - 1))
        step = room / (len(mine) - 1) if len(mine) > 1 else 0.0
        return laid.centres[box][0] - room / 2 + step * mine.index(number)

    half = (
        (sizes[source][1] / 2, -sizes[target][1] / 2 - 2) if down else (-sizes[source][1] / 2, sizes[target][1] / 2 + 2)
    )
    return (
        (spread(source, True), laid.centres[source][1] + half[0]),
        (spread(target, False), laid.centres[target][1] + half[1]),
    )


def _curve(points: list[Point]) -> str:
    """Straight down out of a box and into one, and smoothly past what lies between."""
    drop = min(DOWN, abs(points[-1][1] - points[0][1]) / 2) * (1 if points[-1][1] > points[0][1] else -1)
    last = len(points) - 1
    d = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for i, ((x, y), (to_x, to_y)) in enumerate(pairwise(points)):
        (before_x, before_y), (after_x, after_y) = points[max(i - 1, 0)], points[min(i + 2, last)]
        out = (x, y + drop / 2) if i == 0 else (x + (to_x - before_x) / 6, y + (to_y - before_y) / 6)
        into = (to_x, to_y - drop / 2) if i + 1 == last else (to_x - (after_x - x) / 6, to_y - (after_y - y) / 6)
        d += f"C{out[0]:.1f} {out[1]:.1f} {into[0]:.1f} {into[1]:.1f} {to_x:.1f} {to_y:.1f}"
    return d


def _labels(sizes: Sizes, ends: list[tuple[int, int]], laid: Layout, shapes: list[str]) -> str:
    """Shapes, once for everything that leaves a box alike: beside the last arrow."""
    places: dict[tuple[int, str], tuple[float, float]] = {}
    for i, ((source, target), shape) in enumerate(zip(ends, shapes, strict=True)):
        if shape and source != target:
            port, _ = _ports(i, sizes, ends, laid)
            places[source, shape] = max(port, places.get((source, shape), port))
    shapes_of = Counter(source for source, _ in places)
    return "".join(
        _text(shape, x + 7, y + 13, "shape")
        for (source, shape), (x, y) in places.items()
        if shapes_of[source] <= _SHAPES
    )


def _heads(colours: dict[str, str]) -> str:
    return "".join(
        f'<marker id="h{each[1:]}" viewBox="0 0 8 8" refX="6.5" refY="4" markerWidth="7" markerHeight="7" '
        f'orient="auto" markerUnits="userSpaceOnUse"><path d="M0 .8 7 4 0 7.2z" fill="{each}"/></marker>'
        for each in dict.fromkeys([*colours.values(), "#98a2b3"])
    )


# ── words ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _legend(graph: Graph, colours: dict[str, str], lost: bool) -> tuple[str, float]:
    x, out = 0.0, []

    def entry(mark: str, text: str) -> None:
        nonlocal x
        out.append(f'<g transform="translate({x:.1f} 0)">{mark}{_text(text, 20, 4, "small")}</g>')
        x += 20 + _width(text, 6.0) + 18

    for name, colour in colours.items():
        entry(f'<rect y="-6" width="13" height="12" rx="3" fill="{colour}"/>', f"part of {name}")
    if any(len(each.losses) > 1 for each in graph.boxes):
        halves = "".join(
            f'<rect y="{-6 + 6 * i}" width="13" height="6" fill="{each}"/>'
            for i, each in enumerate([*colours.values()][:2])
        )
        entry(halves, "of several losses")
    if any(each.times > 1 for each in graph.boxes):
        entry('<rect class="times" y="-6" width="13" height="12" rx="6"/>', "so many times, drawn once")
    if lost:
        entry('<rect class="lost" y="-6" width="13" height="12" rx="3"/>', "parameters that get no gradient")
    return "".join(out), x


def _summary(graph: Graph) -> str:
    weights = sum(each.numel for each in graph.parameters if each.trainable)
    reached = sum(each.numel for each in graph.parameters if each.trainable and each.losses)
    parts = [f"{'more than ' if graph.bounded else ''}{thousands(graph.nodes)} operations"]
    parts.append(f"leads to {thousands(reached)} of {thousands(weights)} weights")
    if graph.saved:
        parts.append(f"{size_in_words(graph.saved)} kept for the backward pass")
    if graph.freed:
        parts.append("the backward pass has run already")
    if graph.update is not None:
        parts.append(f"update {thousands(graph.update)}")
    return " · ".join([*parts, "arrows follow the forward pass"])


def size_in_words(count: int) -> str:
    """1.2 GiB."""
    size, unit = float(count), "B"
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            break
        size /= 1024
    return f"{size:.0f} {unit}" if unit == "B" or size >= 10 else f"{size:.1f} {unit}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _width(text: str, per_character: float) -> float:
    return len(text) * per_character


def _text(text: str, x: float, y: float, style: str, anchor: str = "") -> str:
    where = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}"{where}>{escape(text)}</text>'
