"""What stands in tables on the page of a timing: memory, environments, yardsticks. Cells are HTML, escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from rldebug.evidence.timing import Measured, Spot, Timing
from rldebug.finding import Where, thousands
from rldebug.render.chart import spark
from rldebug.render.profile import spot_in
from rldebug.render.profile_rows import brief, size
from rldebug.render.terminal import place

_WIDTHS = {"float64": 8, "int64": 8, "float16": 2, "bfloat16": 2, "int8": 1, "uint8": 1, "bool": 1}  # bytes; else 4
_SAME = {  # yardstick -> the parts of a run that do the same, and how often they do it
    "returns": (("advantages",), "rollout"),
    "acting": (("acting",), "call"),
    "conversion": (("copies",), "call"),
    "prioritised": (("buffer sample",), "update"),
    "polyak": (("target networks",), "update"),
    "update": (("optimizer",), "update"),
    "anomaly": (("loss", "backward"), "update"),
    "precision": (("loss", "backward"), "update"),
    "threads": (("loss", "backward"), "update"),
}
_ANY = 200  # columns: a page has room


# ── memory ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def by_network(timing: Timing) -> str:
    title = "Memory by network"
    if not timing.networks:
        return section("networks", title, empty("No network was seen."))
    found = [(each, each.parameters * _WIDTHS.get(each.dtype, 4)) for each in timing.networks]
    most = max(own + each.gradient_bytes + each.optimizer_bytes for each, own in found) or 1
    lines = [
        (
            f"<b>{e(each.name)}</b>",
            e(f"{each.dtype} on {each.device}"),
            thousands(each.parameters),
            e(size(own)),
            e(size(each.gradient_bytes)),
            e(size(each.optimizer_bytes))
            + (f' <span class="soft">{e(each.optimizer)}</span>' if each.optimizer else ""),
            _meter(own + each.gradient_bytes + each.optimizer_bytes, most),
        )
        for each, own in sorted(found, key=lambda pair: -pair[1])
    ]
    heads = ("network", "", "numbers", "weights", "gradients", "optimizer", "together")
    return section("networks", title, table(heads, lines, numbers=(2, 3, 4, 5)))


def by_line(timing: Timing) -> str:
    title = "Memory by line"
    if not timing.kept:
        return section("kept", title, empty("Nothing that is kept for backward was seen."))
    found = sorted(timing.kept, key=lambda each: -each.bytes)
    lines = [
        (code(each.spot), source_line(timing, each.spot), str(each.tensors), _meter(each.bytes, found[0].bytes))
        for each in found
    ]
    text = "<p>What is kept for backward in one update, and by which line.</p>"
    return section("kept", title, text + table(("line", "", "tensors", "bytes"), lines, numbers=(2,)))


def growing(timing: Timing) -> str:
    title = "Things that grow"
    grown = [each for each in timing.held if len(each.items) > 1 and each.items[-1] > each.items[0]]
    if not grown:
        why = "Nothing of yours grew." if timing.held else "Nothing of yours that could grow was seen."
        return section("held", title, empty(why))
    lines = []
    for each in sorted(grown, key=lambda each: -(each.bytes[-1] if each.bytes else 0)):
        where = place(Where(file=each.file or None, line=each.line or None))
        lines.append(
            (
                f"<code>{e(each.name)}</code>",
                f"<code>{e(where)}</code>",
                f"{thousands(each.items[0])} → {thousands(each.items[-1])}",
                f"{size(each.bytes[0])} → {size(each.bytes[-1])}" if each.bytes else "–",
                spark(each.items),
                f"{thousands(each.graphs)} hold a graph" if each.graphs else "",
            )
        )
    return section("held", title, table(("name", "line", "items", "bytes", "", ""), lines, numbers=(2, 3)))


# ── the rest ────────────────────────────────────────────────────────────────────────────────────────────────────────


def environments(timing: Timing) -> str:
    if not timing.environments:
        return section("environments", "Environments", empty("No environment was seen."))
    lines = [
        (
            f"<b>{e(each.name)}</b>" + (' <span class="soft">for evaluation</span>' if each.evaluation else ""),
            f"<code>{e(place(Where(file=each.created[0], line=each.created[1])))}</code>" if each.created else "",
            str(each.lanes),
            str(each.workers) if each.workers else "none",
            thousands(each.steps),
            thousands(each.calls),
            thousands(each.episodes),
            e(each.render_mode),
        )
        for each in timing.environments
    ]
    heads = ("environment", "made at", "lanes", "workers", "steps", "calls of step", "episodes", "pictures")
    return section("environments", "Environments", table(heads, lines, numbers=(2, 3, 4, 5, 6)))


def yardstick(timing: Timing) -> str:
    title = "What it could cost on this machine"
    if not timing.yardstick:
        return section("yardstick", title, empty("Nothing was measured."))
    lines = [_measured(timing, each) for each in timing.yardstick.values()]
    text = (
        "<p>Measured after the run, in its shapes, each time that it is done. Yours is all of the part of the run "
        "that it belongs to; the slow way is what many programs do.</p>"
    )
    heads = ("what", "yours", "the slow way", "here", "")
    return section("yardstick", title, text + table(heads, lines, numbers=(1, 2, 3)))


def _measured(timing: Timing, each: Measured) -> tuple[str, ...]:
    slow = "–" if each.instead is None else brief(each.instead)
    detail = " · ".join(f"{name.replace('_', ' ')} {brief(value)}" for name, value in each.detail.items())
    yours = _yours(timing, each.name)
    return (
        f"<code>{e(each.what)}</code>",
        "–" if yours is None else f"<b>{brief(yours)}</b>",
        slow,
        brief(each.seconds),
        f'<span class="soft">{e(detail)}</span>',
    )


def _yours(timing: Timing, yardstick: str) -> float | None:
    """What the parts of the run that a yardstick measures took each time; none where no parts are just that."""
    parts, unit = _SAME.get(yardstick, ((), ""))
    calls = sum(each.calls for each in timing.environments if not each.evaluation)
    times = {"rollout": timing.phases, "update": timing.updates, "call": calls}.get(unit, 0)
    seconds = sum(timing.parts.get(part, 0.0) for part in parts)
    return seconds / times if times and seconds else None


# ── pieces ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def section(name: str, title: str, html: str) -> str:
    return f'<section id="{name}"><h2>{e(title)}</h2>{html}</section>'


def empty(why: str) -> str:
    return f'<p class="soft empty">{e(why)}</p>'


def table(heads: Sequence[str], lines: Iterable[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """Cells are HTML."""

    def cells(kind: str, line: Sequence[str]) -> str:
        return "".join(
            f"<{kind}{' class=number' if place in numbers else ''}>{each}</{kind}>" for place, each in enumerate(line)
        )

    body = "".join(f"<tr>{cells('td', line)}</tr>" for line in lines)
    return f'<div class="scroll"><table><tr>{cells("th", heads)}</tr>{body}</table></div>'


def _meter(number: int, most: int) -> str:
    return f'<span class="meter"><i style="width:{100 * number / max(most, 1):.1f}%"></i></span>{e(size(number))}'


def code(spot: Spot | None, name: bool = True) -> str:
    return f"<code>{e(spot_in(spot, _ANY, name))}</code>" if spot is not None else ""


def source_line(timing: Timing, spot: Spot) -> str:
    source = timing.source(spot.file)
    if source is None or not 0 < spot.line <= len(source.lines):
        return ""
    return f'<code class="soft">{e(source.lines[spot.line - 1].strip())}</code>'


def e(value: object) -> str:
    return escape(str(value), quote=True)
