"""Where the time went, in a terminal: a bar for each part, the pace over time, and what would make it faster."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import IO

from rich.text import Text

from rldebug.evidence.timing import WORTH, Spot, Sync, Timing, Window
from rldebug.finding import Finding, Report, Where, thousands
from rldebug.render.profile_rows import Row, brief, in_seconds, kind_of, rate, rows, size
from rldebug.render.terminal import SEVERITY_STYLE, console, count, gain, place, wrap

_LABEL = 14  # width of the labels, so that the values stand in a column
_WIDEST = 110  # columns; longer lines are hard to read
_SHORT = 50  # letters of a part that stays on one line
_SPARKS = 48  # columns of a sparkline
_ENDS = 1 / 3  # share of the windows that the first and the last figure are of: several iterations, mostly
_ADVICE = 5  # lines; the rest is counted
PACES: tuple[tuple[str, Callable[[Window], int]], ...] = (
    ("env steps/s", lambda window: window.env_steps),
    ("updates/s", lambda window: window.updates),
)
_EIGHTHS = " ▏▎▍▌▋▊▉"
_HEIGHTS = "▁▂▃▄▅▆▇█"

_STYLES = {
    "environment": "green",
    "acting": "cyan",
    "data": "yellow",
    "learning": "blue",
    "aside": "magenta",
    "waiting": "red",
}


def print_profile(timing: Timing, report: Report, file: IO[str] | None = None) -> None:
    out = console(file=file)
    out.print(render(timing, report, min(out.width, _WIDEST)), end="", soft_wrap=True)


def render(timing: Timing, report: Report, width: int = 100) -> Text:
    text = Text()
    text.append(f"{brief(timing.seconds)} of training", style="bold")
    text.append(f"{wrap(_kept_together(' · '.join(['', *pace(timing)])), width, 2, first=20)}\n")
    _labelled(text, [("start-up", start_up(timing)), ("machine", " · ".join(machine(timing)))], width)
    text.append("\n")
    _bars(text, rows(timing), width)
    text.append("\n")
    before = len(text)
    _over_time(text, timing, width)
    _labelled(text, [("memory", memory(timing.windows)), *gpu(timing)], width)
    text.append("\n" if len(text) > before else "")
    _advice(text, timing, report, width)
    for line in timing.problems:
        if line not in report.problems:
            text.append(f"! {wrap(line, width, 2)}\n", style="yellow")
    text.append("\n")
    return text


# ── how much, on what ───────────────────────────────────────────────────────────────────────────────────────────────


def pace(timing: Timing) -> list[str]:
    said = []
    for number, noun in ((timing.env_steps, "env steps"), (timing.updates, "updates")):
        speed = f" ({rate(number / timing.seconds)}/s)" if timing.seconds > 0 and number else ""
        said.append(f"{thousands(number)} {noun}{speed}")
    if learned := samples_learned(timing):
        often = f", each seen {learned / timing.env_steps:.3g} times" if timing.env_steps else ""
        said.append(f"≈ {thousands(learned)} samples learned{often}")
    return said


def samples_learned(timing: Timing) -> int:
    """Rows that the updates were made of: of the network that takes the most, as the others share them."""
    return timing.updates * max((each.training_rows for each in timing.networks), default=0)


def start_up(timing: Timing) -> str:
    said = [f"{brief(timing.start_up)} before that, not counted here"] if timing.start_up else []
    if timing.own and timing.seconds > 0:
        said.append(f"watching took {brief(timing.own)} ({100 * timing.share(timing.own):.1f} %)")
    return " · ".join(said)


def machine(timing: Timing) -> list[str]:
    host = timing.host
    threads = count(host.threads, "torch thread")
    workers = count(host.workers, "worker")
    if host.workers and host.worker_threads:
        workers += f" of {count(host.worker_threads, 'thread')}"
    cores = f"{host.cores:.3g} core{'' if host.cores == 1 else 's'}"
    return [cores, threads, workers if host.workers else "no workers", host.gpu or "no GPU"]


# ── bars ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _bars(text: Text, found: Sequence[Row], width: int) -> None:
    if not found:
        text.append("  no samples were taken: nothing is known of where the time went\n", style="yellow")
        return
    names = min(max(len(each.name) + 2 * each.within for each in found), 18 if width < 100 else 24)
    bar = max(8, min(30, width - names - 64))
    costs = max(len(each.per) for each in found)
    most = max(each.percent for each in found) or 1.0
    for each in found:
        style = _STYLES.get(kind_of(each.name), "white")
        name = clipped(f"{'╰ ' if each.within else ''}{each.name}", names)
        text.append(f"  {name.ljust(names)} ", style="dim" if each.within else "")
        if each.within:
            text.append(" " * bar)
        else:
            text.append(blocks(each.percent / most, bar).ljust(bar), style=style)
        text.append(f" {each.percent:5.1f} %", style="dim" if each.within else "bold")
        text.append(f" {in_seconds(each.seconds):>8}", style="dim" if each.within else "")
        where = spot_in(each.spot, width - names - bar - costs - 24, name=not each.within)
        text.append(f"  {each.per.ljust(costs)}" if where else f"  {each.per}".rstrip(), style="dim")
        own = each.spot is not None and each.spot.kind == "user"
        text.append(f"  {where}".rstrip() + "\n", style="" if own else "dim")


def blocks(share: float, width: int) -> str:
    whole, eighth = divmod(round(8 * width * share), 8)
    return "█" * whole + _EIGHTHS[eighth].strip() or "▏"


def spot_in(spot: Spot | None, room: int, name: bool = True) -> str:
    """A line and its function in so many columns, with as much of the way there as fits."""
    if spot is None:
        return ""
    line = place(Where(file=spot.file, line=spot.line))
    last = f"{os.path.basename(spot.file)}:{spot.line}"
    function = f" {spot.function}" if name and spot.function != "<module>" else ""
    wordings = [line + function, last + function, last]
    if spot.kind != "user":  # the way to a library is long, and nobody's
        wordings = wordings[1:]
    return next((each for each in wordings if len(each) <= room), clipped(last, room))


def clipped(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"


# ── over time ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _over_time(text: Text, timing: Timing, width: int) -> None:
    columns = max(10, min(_SPARKS, width - _LABEL - 30))
    for label, amount in PACES:
        found = ends(timing.windows, amount)
        if found is None:
            continue
        line = sparks([amount(each) / each.seconds for each in timing.windows if each.seconds > 0], columns)
        text.append(f"  {label.ljust(_LABEL)}", style="dim")
        text.append(line, style="cyan")
        text.append(f"  {rate(found[0])} → {rate(found[1])}\n")


def ends(windows: Sequence[Window], amount: Callable[[Window], int]) -> tuple[float, float] | None:
    """The pace in the first and in the last stretch of the run; none where nothing of it happened."""
    timed = [each for each in windows if each.seconds > 0]
    if len(timed) < 2 or not any(amount(each) for each in timed):
        return None
    some = max(1, round(_ENDS * len(timed)))
    first, last = timed[:some], timed[-some:]
    pace = [sum(map(amount, part)) / sum(each.seconds for each in part) for part in (first, last)]
    return pace[0], pace[1]


def sparks(values: Sequence[float], columns: int) -> str:
    """From 0 to the highest; neighbours are averaged where there are more of them than columns."""
    if len(values) > columns:
        bounds = [round(i * len(values) / columns) for i in range(columns + 1)]
        values = [sum(values[a:b]) / (b - a) for a, b in pairwise(bounds)]
    highest = max(values, default=0.0)
    if highest <= 0:
        return ""
    return "".join(_HEIGHTS[min(7, int(8 * max(each, 0.0) / highest))] for each in values)


def memory(windows: Sequence[Window]) -> str:
    seen = [each.resident for each in windows if each.resident]
    if not seen:
        return ""
    grown = seen[-1] - seen[0]
    sign = "+" if grown >= 0 else "−"
    fetched = sum(each.faults for each in windows)
    more = f" · {count(fetched, 'page')} fetched from disk" if fetched else ""
    return f"{size(seen[0])} → {size(seen[-1])} ({sign}{size(abs(grown))}){more}"


def gpu(timing: Timing) -> list[tuple[str, str]]:
    """Rows about the GPU, where there are readings of one."""
    windows = timing.windows
    said = []
    busy = [(each.utilisation, each.seconds) for each in windows if each.utilisation is not None and each.seconds > 0]
    if busy:
        said.append(f"{sum(a * b for a, b in busy) / sum(b for _, b in busy):.0%} of the time busy".replace("%", " %"))
    held = [
        f"{size(max(seen))} {words}"
        for name, words in (("allocated", "in tensors"), ("reserved", "reserved"), ("gross", "in all"))
        if (seen := readings(windows, name))
    ]
    said += [", ".join(held)] if held else []
    said += [f"{max(seen):.0f} °C"] if (seen := readings(windows, "temperature")) else []
    said += [f"fan {max(seen):.0f} %"] if (seen := readings(windows, "fan")) else []
    found = [("GPU", " · ".join(said))] if said else []
    if timing.syncs:
        lines = [f"{spot_in(each.spot, 40, name=False)} {each.what} {each.per_update:.3g}" for each in waits(timing)]
        more = f" · {len(lines) - 3} lines more" if len(lines) > 3 else ""
        times = sum(each.per_update for each in timing.syncs)
        found.append(("host waits", f"{times:.3g} times per update: {' · '.join(lines[:3])}{more}"))
    if words := launches(timing.kernels):
        found.append(("launches", words))
    return found


def waits(timing: Timing) -> list[Sync]:
    return sorted(timing.syncs, key=lambda each: -each.per_update)


def launches(kernels: Mapping[str, float]) -> str:
    if not kernels.get("launches"):
        return ""
    said = f"{thousands(round(kernels['launches']))} kernels per update"
    if "kernel_seconds" in kernels and "seconds" in kernels:
        said += f", that run for {brief(kernels['kernel_seconds'])} of its {brief(kernels['seconds'])}"
    return said


def readings(windows: Sequence[Window], name: str) -> list[float]:
    return [value for each in windows if (value := getattr(each, name)) is not None]


# ── advice ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def advice(report: Report) -> list[Finding]:
    """What would make the run faster, the largest gain first."""
    found = [each for each in report.roots if each.speedup is not None]
    return sorted(found, key=lambda each: -(each.speedup or 1.0))


def together(found: Iterable[Finding]) -> float:
    """How many times as fast, if all is done. Careful: what two of them save may partly be the same time."""
    return math.prod(each.speedup or 1.0 for each in found)


def nothing_to_advise(timing: Timing) -> str:
    if not timing.slices:
        return "nothing can be said without samples"
    return f"nothing here is worth {round(100 * (WORTH - 1))} %"


def _advice(text: Text, timing: Timing, report: Report, width: int) -> None:
    found = advice(report)
    text.append("faster: ", style="bold")
    if not found:
        text.append(f"{nothing_to_advise(timing)}\n", style="green" if timing.slices else "yellow")
        return
    text.append("the whole run would be\n")
    for each in found[:_ADVICE]:
        times = gain(each.speedup or 1.0)
        text.append(f"  {times:>7} as fast  ", style="bold green")
        text.append(f"{each.code} ", style=SEVERITY_STYLE[each.severity])
        where = f" ({place(each.where)})" if each.where.file else ""
        text.append(wrap(f"{each.message}{where}", width, 26) + "\n")
    if len(found) > _ADVICE:
        text.append(f"  and {len(found) - _ADVICE} more below\n", style="dim")
    if len(found) > 1:
        text.append(f"  {gain(together(found)):>7} as fast  ", style="bold green")
        text.append("all of them together, about\n")


# ── words ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _labelled(text: Text, lines: Iterable[tuple[str, str]], width: int) -> None:
    for label, value in lines:
        if value:
            text.append(f"  {label.ljust(_LABEL)}", style="dim")
            text.append(wrap(_kept_together(value), width, 2 + _LABEL) + "\n")


def _kept_together(value: str) -> str:
    """Lines are broken between the parts, not within a short one."""
    whole = "\N{NO-BREAK SPACE}"
    parts = [each.replace(" ", whole) if len(each) <= _SHORT else each for each in value.split(" · ")]
    return f"{whole}· ".join(parts)
