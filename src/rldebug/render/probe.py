"""The ladder in a terminal: a line for each rung, pictures of what was learned where it is wrong, and the sum of it."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn
from rich.text import Text

from rldebug.evidence.ladder import Array, Ladder, Outcome, Rung
from rldebug.finding import thousands
from rldebug.render.progress import clock, short
from rldebug.render.terminal import count
from rldebug.render.terminal import wrap as wrapped

MARKS: dict[Outcome, tuple[str, str]] = {
    "passed": ("✓", "green"),
    "failed": ("✗", "bold red"),
    "undecided": ("?", "yellow"),
    "crashed": ("!", "bold magenta"),
    "not run": ("·", "dim"),
    "not applicable": ("–", "dim"),
}
"""How an outcome is marked, and its style. The word always stands beside: no meaning is in a colour alone."""

SAID: dict[Outcome, str] = {"not applicable": "did not apply"}  # where it is not the word itself
ASIDE: tuple[Outcome, ...] = ("not run", "not applicable")  # nothing was tried: they need no line of their own
TROUBLED: tuple[Outcome, ...] = ("failed", "undecided", "crashed")
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_WIDEST = 120  # columns
_PICTURES = 4  # rungs drawn; the page draws all
_LOOKS = 8  # of one rung
_SECONDS_BETWEEN_LINES = 5.0


def print_ladder(out: Console, ladder: Ladder) -> None:
    """Everything but the findings, which `render.terminal` prints."""
    out.print(render(ladder, width=min(out.width, _WIDEST)), end="")


def print_climbs(out: Console, ladders: Mapping[str, Ladder]) -> None:
    """Of several climbs the sum: a line for each."""
    longest = max(map(len, ladders), default=0)
    out.print()
    for name, ladder in ladders.items():
        text = Text(f"{name.ljust(longest)}  ")
        for outcome, number in Counter(each.outcome for each in ladder.rungs).items():
            if outcome not in ASIDE:
                text.append(f"{MARKS[outcome][0]} {number} {outcome}  ", style=MARKS[outcome][1])
        out.print(text, soft_wrap=True)


def render(ladder: Ladder, width: int = 100) -> Text:
    text = Text()
    text.append(f"{ladder.target}", style="bold")
    text.append(f" on {count(len(ladder.rungs), 'rung')}\n")
    _matrix(text, [each for each in ladder.rungs if each.outcome not in ASIDE], width)
    for outcome in ASIDE:
        if aside := reasons(ladder.rungs, outcome):
            label = (SAID.get(outcome, outcome) + ":").ljust(15)
            text.append(f"{label}{wrapped(' · '.join(aside), width, 15)}\n", style="dim")
    _pictures(text, [each for each in ladder.rungs if each.outcome == "failed"], width)
    if told := discounts(ladder):
        text.append(wrapped(" · ".join(told), width, 2, first=0) + "\n")
    text.append_text(_sum(ladder))
    return text


# ── in words ────────────────────────────────────────────────────────────────────────────────────────────────────────


def reasons(rungs: Sequence[Rung], outcome: Outcome) -> list[str]:
    """Of the rungs with this outcome, those with the same reason together: `names (reason)`."""
    alike: dict[str, list[str]] = {}
    for rung in rungs:
        if rung.outcome == outcome:
            alike.setdefault(rung.reason, []).append(rung.name)
    return [", ".join(names) + (f" ({reason})" if reason else "") for reason, names in alike.items()]


def discounts(ladder: Ladder) -> list[str]:
    """γ and λ as the values tell them, beside what is declared."""
    said: list[str] = []
    for sign, name, told in (("γ", "gamma", ladder.gamma), ("λ", "lam", ladder.lam)):
        declared = ladder.declared.get(name)
        if told is not None:
            by = "told" if said else "told by the values"
            beside = f"{declared:g} declared" if declared is not None else "none declared"
            said.append(f"{sign} {told:.3f} {by}, {beside}")
        elif declared is not None:
            said.append(f"{sign} {declared:g} declared")
    return said


def lengths(ladder: Ladder) -> list[str]:
    """Over how many steps it looks, as declared."""
    named = {"n_step": "targets", "rollout": "rollouts"}
    return [
        f"{what} of {count(ladder.declared[name], 'step')}" for name, what in named.items() if ladder.declared.get(name)
    ]


def tally(ladder: Ladder) -> list[tuple[Outcome, str]]:
    """How many of each, in words, those that passed first."""
    counts = Counter(each.outcome for each in ladder.rungs)
    return [(each, f"{counts[each]} {SAID.get(each, each)}") for each in MARKS if counts[each] or each == "passed"]


def mistakes(rung: Rung) -> str:
    """Of a failed rung: which known mistake its values are those of, and which others might be; empty where none."""
    first, *others = [each.replace("-", " ") for each in rung.matched] or [""]
    return first + (f" (or {', '.join(others)})" if others else "")


def learned(rung: Rung, table: str) -> Array | None:
    """`value`: the mean of the seeds that decided. `policy`: of one of them, since a mean of policies is no policy."""
    last = rung.deciding
    mean = rung.mean(table) if table == "value" else None
    return mean if mean is not None or last is None else getattr(last, table)


def some(number: int, most: int) -> list[int]:
    """Which of so many to show: all, or from the first to the last in even steps."""
    return sorted({round(each) for each in np.linspace(0, number - 1, min(number, most))}) if number else []


# ── the matrix ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _matrix(text: Text, rungs: Sequence[Rung], width: int) -> None:
    if not rungs:
        return
    names = max(len(each.name) for each in rungs)
    seeds = max(5, *(len(each.attempts) for each in rungs))
    head = f"    {'rung'.ljust(names)}  {'outcome'.ljust(11)}  asks    {'seeds'.ljust(seeds)}"
    text.append(f"{head}  {'steps':>7}  {'time':>6}  within\n", style="dim")
    for rung in rungs:
        mark, style = MARKS[rung.outcome]
        text.append(f"{rung.number:>3} {rung.name.ljust(names)}  ")
        text.append(f"{mark} {rung.outcome.ljust(9)}", style=style)
        text.append(f"  {rung.asks.ljust(6)}  ")
        for each in rung.attempts:
            text.append(MARKS[each.outcome][0], style=MARKS[each.outcome][1])
        steps = thousands(sum(each.steps for each in rung.attempts))
        seconds = sum(each.seconds for each in rung.attempts)
        line = f"{' ' * (seeds - len(rung.attempts))}  {steps:>7}  {span(seconds):>6}"
        text.append(line)
        if rung.outcome == "passed":
            text.append(f"  {_within(rung):>6}\n")
            continue
        begun = 4 + names + 2 + 11 + 2 + 6 + 2 + seeds + 2 + 7 + 2 + 6
        fits = begun + 2 + len(rung.reason) <= width
        text.append(f"  {rung.reason}\n" if fits else f"\n{' ' * 6}{wrapped(rung.reason, width, 6)}\n")


def _within(rung: Rung) -> str:
    """The share in the reason: that of all looks that decided, of which the last one's error is but one."""
    share = re.search(r"\d[\d.]*%", rung.reason)
    return share[0] if share else ""


def share(error: float) -> str:
    return f"{error:.0%}" if abs(error) >= 0.1 else f"{error:.1%}"


def figure(value: float, extent: float) -> str:
    """With as many decimals as its neighbours, so that a column of them can be compared."""
    if abs(value) >= 1e6:  # it ran away: how far is all there is to say
        return f"{value:.1e}"
    return f"{value:.3f}" if 0.05 <= extent < 100 else short(value)


def span(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 100 else clock(seconds)


def _sum(ladder: Ladder) -> Text:
    text = Text()
    for outcome, words in tally(ladder):
        loud = outcome == "passed" or outcome in TROUBLED
        text.append(", " if text else "")
        text.append(words, style=MARKS[outcome][1] if loud else "dim")
    text.append(f" · {span(ladder.seconds)}\n")
    return text


# ── pictures ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _pictures(text: Text, rungs: Sequence[Rung], width: int) -> None:
    for rung in rungs[:_PICTURES]:
        text.append(f"\n{rung.number} {rung.name}", style="bold")
        text.append(f": {wrapped(rung.title, width, 2, first=len(f'{rung.number} {rung.name}: '))}\n")
        for line in picture(rung, width):
            text.append("    ").append_text(line).append("\n")
        if rung.matched:
            said = f"a known mistake leads to just this: {mistakes(rung)}"
            text.append(f"    {wrapped(said, width, 4)}\n", style="bold")
    if len(rungs) > _PICTURES:
        text.append(f"\nand {len(rungs) - _PICTURES} more: --page FILE draws them all\n", style="dim")
    if rungs:
        text.append("\n")


def picture(rung: Rung, width: int) -> list[Text]:
    """Learned beside right, a line for each look. Empty where nothing was measured."""
    lines: list[Text] = []
    last = rung.deciding
    value, policy = learned(rung, "value"), learned(rung, "policy")
    if rung.asks == "value" and value is not None and rung.right is not None:
        lines = _values(rung, value, rung.right, width)
    elif rung.asks == "policy" and policy is not None and rung.right is not None:
        numbers = policy.shape[1] == 1 and rung.choices is not None
        lines = _numbers(rung, policy, width) if numbers else _chances(rung, policy, rung.right, width)
    elif rung.returns is not None and last is not None and last.returns is not None:
        at_random, best = rung.returns
        scale = rule_line(last.returns, best, at_random, best, 30)
        lines = [
            Text(f"at random {short(at_random)} ") + scale + Text(f" {short(best)} best · got {short(last.returns)}")
        ]
    if last is not None and last.forbidden:
        lines.append(Text(f"{share(last.forbidden)} of the actions lately were not allowed"))
    return lines


def _values(rung: Rung, value: Array, right: Array, width: int) -> list[Text]:
    low, high = ends_of(right, value)
    names = max(len(each) for each in rung.looks)
    cells = min(max(width - names - 34, 10), 40)
    lines = [Text(f"{''.ljust(names)}  {'█ learned, │ right'.ljust(cells)}  learned    right", style="dim")]
    for i in some(len(rung.looks), _LOOKS):
        line = Text(f"{rung.looks[i].ljust(names)}  ").append_text(bar(value[i], right[i], low, high, cells))
        lines.append(line.append(f"  {figure(value[i], high - low):>7}  {figure(right[i], high - low):>7}"))
    return lines + _unseen(rung)


def _chances(rung: Rung, policy: Array, right: Array, width: int) -> list[Text]:
    """The chance of each action; ★ is the best one."""
    names = max(len(each) for each in rung.looks)
    labels = [f"{each:g}" for each in (range(policy.shape[1]) if rung.choices is None else rung.choices)]
    wide = max(map(len, labels))
    fit = max((width - 4 - names) // (wide + 18), 1)  # actions in a line
    lines = [Text(f"{''.ljust(names)}  chance of each action, ★ the best", style="dim")]
    for i in some(len(rung.looks), _LOOKS):
        for first in range(0, len(labels), fit):
            line = Text((rung.looks[i] if first == 0 else "").ljust(names))
            for j in range(first, min(first + fit, len(labels))):
                best = right[i, j] > 0
                line.append("  ").append(f"{'★' if best else ' '}{labels[j]:>{wide}} ", style="green" if best else "")
                line.append_text(bar(policy[i, j], None, 0.0, 1.0, 8)).append(f" {policy[i, j]:>4.0%}")
            lines.append(line)
    return lines + _unseen(rung)


def _numbers(rung: Rung, policy: Array, width: int) -> list[Text]:
    """Where actions are numbers: the one that is taken, and the best, between the least and the largest."""
    assert rung.choices is not None
    assert rung.right is not None
    low, high = float(rung.choices[0]), float(rung.choices[-1])
    names = max(len(each) for each in rung.looks)
    lines = [Text(f"{''.ljust(names)}  the number it acts with: ● learned, │ best", style="dim")]
    for i in some(len(rung.looks), _LOOKS):
        number, right = float(policy[i, 0]), float(rung.right[i, 0])
        line = Text(f"{rung.looks[i].ljust(names)}  {short(low)} ").append_text(
            rule_line(number, right, low, high, min(max(width - names - 40, 10), 40))
        )
        lines.append(line.append(f" {short(high)} · {short(number)}, best {short(right)}"))
    return lines + _unseen(rung)


def _unseen(rung: Rung) -> list[Text]:
    left = len(rung.looks) - len(some(len(rung.looks), _LOOKS))
    return [Text(f"… and {left} between them", style="dim")] if left else []


def ends_of(right: Array, *others: Array) -> tuple[float, float]:
    """Of a scale with 0 and all of these on it. Where all is to be 0, it goes to ±1: small errors must look small."""
    least = 0.0 if np.any(right) else 1.0
    everything = np.concatenate([right, *others])
    return min(-least, float(everything.min())), max(least, float(everything.max()))


def bar(value: float, right: float | None, low: float, high: float, cells: int) -> Text:
    """From 0 to the value, with a line where the right one is; exact to an eighth of a cell (a half, below 0)."""
    scale = cells / ((high - low) or 1.0)
    begin, end = sorted(((0.0 - low) * scale, (value - low) * scale))
    drawn = []
    for i in range(cells):
        covered = min(end, i + 1.0) - max(begin, float(i))
        if begin <= i + 0.01 or covered > 0.95:
            drawn.append(_EIGHTHS[min(max(round(8 * covered), 0), 8)])
        else:
            drawn.append("▐" if covered > 0.25 else " ")
    text = Text("".join(drawn), style="cyan")
    return text if right is None else _put(text, "│", "bold green", (right - low) * scale)


def rule_line(value: float, right: float, low: float, high: float, cells: int) -> Text:
    """A scale from low to high with both on it; what is beyond its ends stands at them."""
    scale = cells / ((high - low) or 1.0)
    text = _put(Text("─" * cells, style="dim"), "│", "bold green", (right - low) * scale)
    return _put(text, "●", "bold cyan", (value - low) * scale)


def _put(text: Text, mark: str, style: str, at: float) -> Text:
    cell = min(max(int(at), 0), len(text) - 1)
    return text[:cell] + Text(mark, style=style) + text[cell + 1 :]


# ── while it climbs ─────────────────────────────────────────────────────────────────────────────────────────────────


class ClimbProgress:
    """Call it with every rung that is finished. `names`: those that will be, in their order, where that is known."""

    def __init__(self, out: Console, names: Sequence[str] = ()) -> None:
        self.out, self.ahead, self.finished = out, list(names), 0
        self._last_line = time.perf_counter()
        self._bar: Progress | None = None
        self._task = TaskID(0)
        if out.is_terminal:
            # No thread that redraws: climbing may fork, and a fork while that holds the console's lock waits for ever.
            self._bar = Progress(
                TextColumn("[bold]probing"),
                BarColumn(bar_width=20 if out.width >= 100 else 8),
                *([MofNCompleteColumn()] if names else []),
                TextColumn("{task.description}", markup=False),
                console=out,
                transient=True,
                auto_refresh=False,
            )
            self._task = self._bar.add_task(self._now(), total=len(names) or None)
            self._bar.start()
            self._bar.refresh()

    def __call__(self, rung: Rung) -> None:
        self.finished += 1
        if rung.name in self.ahead:
            self.ahead.remove(rung.name)
        if self._bar is not None:
            self._bar.update(self._task, completed=self.finished, description=self._now(rung), refresh=True)
        elif time.perf_counter() - self._last_line > _SECONDS_BETWEEN_LINES:
            self._last_line = time.perf_counter()
            self.out.print(f"{count(self.finished, 'rung')} done · {self._now(rung)}", style="dim", markup=False)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _now(self, last: Rung | None = None) -> str:
        trying = [f"trying {self.ahead[0]}"] if self.ahead else []
        was = [f"{last.name} {SAID.get(last.outcome, last.outcome)}"] if last is not None else []
        return " · ".join(was + trying) or "starting"


def progress(out: Console, names: Sequence[str] = ()) -> ClimbProgress:
    """Live progress: a line that is rewritten on a terminal, a line now and then elsewhere. Close it in the end."""
    return ClimbProgress(out, names)
