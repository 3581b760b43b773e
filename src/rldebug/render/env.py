"""What an environment is like, in a terminal: who played it and how far they came, above what is wrong with it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import IO

from rich.text import Text

from rldebug.evidence.env_play import EnvPlay, Play
from rldebug.finding import thousands
from rldebug.render.terminal import console, count

_BLOCKS = " ▁▂▃▄▅▆▇█"
_BARS = 24
_WIDEST = 110


def print_played(played: EnvPlay, file: IO[str] | None = None) -> None:
    out = console(file=file)
    out.print(render(played, min(out.width, _WIDEST)), end="", soft_wrap=True)


def render(played: EnvPlay, width: int = 100) -> Text:
    text = Text()
    text.append(played.name, style="bold")
    text.append(f" · {thousands(played.steps)} steps in {count(played.episodes, 'episode')}{_pace(played)}\n")
    limit = f", cut off after {thousands(played.time_limit)} steps" if played.time_limit else ""
    for label, value in (("sees", played.observation_space), ("does", f"{played.action_space}{limit}")):
        text.append(f"  {label}  ", style="dim")
        text.append(_short(value, width - 8) + "\n")
    if played.plays:
        text.append("\n")
        text.append_text(_players(played))
    if played.rewards.steps:
        text.append("\n")
        text.append_text(_histogram("reward", played.rewards.counts, played.rewards.low, played.rewards.high))
        lengths = played.lengths
        if lengths:
            counts = _counted(lengths)
            text.append_text(_histogram("length", counts, min(lengths), max(lengths)))
    for each in played.left_out:
        text.append(f"! {_short(each, width - 2)}\n", style="yellow")
    text.append("\n")
    return text


def _pace(played: EnvPlay) -> str:
    if not played.step_seconds > 0:  # also where it was not measured
        return ""
    rate = 1 / played.step_seconds
    return f" · {thousands(int(round(rate, -2 if rate > 1000 else 0)))} steps/s"


def _players(played: EnvPlay) -> Text:
    """Best first; equal ones as one row would hide who they are, so that each keeps its own."""
    rows = sorted(played.plays, key=lambda each: (not each.episodes, -each.mean if each.episodes else 0))
    cells = [("player", "return", "95 %", "length", "episodes", "ended by"), *(_cells(each) for each in rows)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(cells[0]))]
    best = played.best_constant
    text = Text()
    for row, play in zip(cells, (None, *rows), strict=True):
        line = [row[0].ljust(widths[0])]
        line += [cell.rjust(width) for cell, width in zip(row[1:5], widths[1:5], strict=True)]
        style = "dim" if play is None else "bold" if play.kind == "random" or play is best else ""
        text.append("  " + "  ".join([*line, row[5]]).rstrip(), style=style)
        text.append("  ← best constant\n" if play is best and play is not None else "\n", style="dim")
    return text


def _cells(play: Play) -> tuple[str, ...]:
    low, high = play.interval
    between = f"{_number(low)} – {_number(high)}" if low < high else ""
    if not play.episodes:
        return play.agent, "–", "", f"> {thousands(play.longest)}", "0", play.problem[:40] or "nothing yet"
    ways = [
        f"{number} {way}" for number, way in ((play.terminated, "terminated"), (play.truncated, "truncated")) if number
    ]
    ends = ways[0].split(" ")[1] if len(ways) == 1 else ", ".join(ways)
    return play.agent, _number(play.mean), between, _number(play.length), str(play.episodes), ends


def _histogram(label: str, counts: Sequence[int], low: float, high: float) -> Text:
    text = Text()
    text.append(f"  {label}  ", style="dim")
    if low == high:
        text.append(f"always {_number(low)}\n")
        return text
    # By the square root: a rare bonus beside ten thousand zeros would not show at all.
    most = math.sqrt(max(counts))
    bars = "".join(_BLOCKS[0 if not each else max(1, round(8 * math.sqrt(each) / most))] for each in counts)
    text.append(f"{_number(low).rjust(9)} ")
    text.append(bars, style="cyan")
    text.append(f" {_number(high)}\n")
    return text


def _counted(lengths: Sequence[int]) -> tuple[int, ...]:
    low, high = min(lengths), max(lengths)
    bars = min(_BARS, high - low + 1)
    counts = [0] * bars
    for each in lengths:
        counts[min(bars - 1, (each - low) * bars // max(high - low + 1, 1))] += 1
    return tuple(counts)


def _number(value: float) -> str:
    """Four significant digits, in threes: 21.5, -1 213, 1 105 000."""
    if not math.isfinite(value):
        return "–"
    if value == 0 or 1e-4 <= abs(value) < 1e7:
        digits = max(0, 3 - math.floor(math.log10(abs(value)))) if value else 0
        text = f"{value:,.{min(digits, 6)}f}".replace(",", " ")
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{value:.3g}"


def _short(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"
