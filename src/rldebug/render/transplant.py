"""A transplant in a terminal: what the program showed before and after, side by side, and the verdict."""

from __future__ import annotations

from typing import IO

from rich.text import Text

from rldebug.evidence.transplant import Seen, Transplant
from rldebug.finding import thousands
from rldebug.render.probe import MARKS
from rldebug.render.terminal import console, count, wrap

_WIDEST = 110
_CELL = 38  # columns for what was seen before
_STYLE = {"gone": "bold green", "partly": "bold yellow", "unclear": "bold yellow"}


def print_transplant(done: Transplant, file: IO[str] | None = None) -> None:
    """Everything but the findings, which `render.terminal` prints."""
    out = console(file=file)
    out.print(render(done, width=min(out.width, _WIDEST)), end="")


def render(done: Transplant, width: int = 100) -> Text:
    text = Text("\n")
    found = done.verification
    name = found.target.rpartition(":")[2]
    if found.outcome == "right":
        text.append("✓ ", style="green")
        text.append(f"{name} is right, on {count(found.cases, 'case')}\n")
    else:
        text.append("✗ ", style="bold red")
        text.append(f"{name} is wrong: {', '.join(found.matched) or found.message}\n")
    text.append(" ".join(done.program) + "\n", style="bold")
    rows = _rows(done)
    wide = max((len(label) for label, _, _ in rows), default=0)
    then = min(max((len(before) for _, before, _ in rows), default=0), _CELL)
    text.append("  " + " " * wide + f"  {'as it is'.ljust(then)}  with the reference\n", style="dim")
    for label, before, after in rows:
        text.append(f"  {label.ljust(wide)}  ", style="cyan")
        text.append(f"{before.ljust(then)}  ")
        text.append(wrap(after, width, wide + then + 6) + "\n")
    text.append("→ ", style="bold")
    text.append(done.said + "\n", style=_STYLE.get(done.verdict, "bold"))
    for note in _notes(done):
        text.append("note: ", style="bold cyan")
        text.append(wrap(note, width, 6) + "\n")
    return text


def _rows(done: Transplant) -> list[tuple[str, str, str]]:
    before, after = done.before, done.after
    rows = [
        (f"probe {name}", _outcome(outcome), "" if after is None else _outcome(after.rungs.get(name, "not run")))
        for name, outcome in before.rungs.items()
        if after is None or name in after.rungs
    ]
    names = dict.fromkeys([*before.findings, *(after.findings if after is not None else ())])
    for name in names:
        now = "" if after is None else "there" if name in after.findings else "gone"
        rows.append((f"finding {name}", "there" if name in before.findings else "not there", now))
    if before.crash or (after is not None and after.crash):
        rows.append(("ends with", before.crash or "status 0", "" if after is None else after.crash or "status 0"))
    rows.append(("calls", _calls(before), "" if after is None else _calls(after)))
    if before.returns or (after is not None and after.returns):
        rows.append(("mean return", _worth(before), "" if after is None else _worth(after)))
    return rows


def _outcome(outcome: str) -> str:
    mark = MARKS[outcome][0] if outcome in MARKS else "·"
    return f"{mark} {outcome}"


def _calls(seen: Seen) -> str:
    total = sum(seen.calls.values())
    if "counted" in seen.calls:
        return thousands(total)
    differed, raised = seen.calls.get("different", 0), seen.calls.get("raised", 0)
    told = f"{thousands(total)}, {thousands(differed)} of them answered otherwise"
    return told + (f", {thousands(raised)} where it raised" if raised else "")


def _worth(seen: Seen) -> str:
    if seen.mean_return is None:
        return "no episode ended"
    return f"{seen.mean_return:.4g} in the last {seen.episodes} of {thousands(len(seen.returns))} episodes"


def _notes(done: Transplant) -> list[str]:
    before, after = done.before, done.after
    said = [f"{name}: {why}" for seen in (before, after) if seen is not None for name, why in seen.reasons.items()]
    if done.verification.outcome == "wrong" and not done.verification.matched:
        said.append("no known mistake explains what it computes, so what its arguments mean is a guess")
    if done.new and done.verdict != "none":
        said.append(f"with the reference there is something new: {', '.join(done.new)}")
    if after is None:
        return said
    if done.verdict == "none" and done.new:
        said.append(f"with the reference there is one: {', '.join(done.new)}")
    wrong = done.verification.outcome == "wrong"
    same = not after.calls.get("different", 0) and not after.calls.get("raised", 0)
    if same and wrong:
        said.append("in this program the reference gives the same answers: what is wrong with it does not show here")
    elif same:
        said.append("in this program the reference gives the same answers")
    elif not wrong:
        said.append("it is right on all cases, yet the reference gives other answers here: the program hands over "
                    "something that the cases do not hold")  # fmt: skip
    if done.verdict == "none" and before.returns and after.returns and not same:
        said.append("returns are no proof: they differ from run to run. With --env-flag it climbs the ladder of probes")
    if before.stopped or after.stopped:
        said.append("its time was over before it came to its end: --timeout gives it more")
    return said
