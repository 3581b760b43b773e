"""Tracebacks and warnings in a text: as Python, IPython, pytest and Ray print them, behind whatever logs put before a
line. Places and messages only; whose code it was is for others to say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

NOTE = "rldebug: "  # how our own notes begin: pasted along with a traceback, they are no part of its message

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_CLOCK = re.compile(r"^\[?(?:\d{4}[-/]\d\d[-/]\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?[ \t]")
BEGIN = "Traceback (most recent call last)"
_RANKS = (r"\[rank\d+\]: ?", r"\([\w.:() -]*pid=\d+[^()]*\) ?", r"(?:\w+-)?\d+ ?\| ?")
_LEVEL = re.compile(r'^(?P<indent>\s*)File "(?P<file>[^"]+)", line (?P<line>\d+)(?:, in (?P<function>.+?))?\s*$')
_CELL = re.compile(
    r"^(?:Cell |Input )?(?P<file>In ?\[\d+\]), (?:line (?P<line>\d+)(?:, in (?P<function>[^(]+).*)?|in .*)$"
)
_SHOWN = re.compile(r"^File (?P<file>.+?):(?P<line>\d+)(?:, in (?P<function>[^(]+).*)?$")
_ARROWED = re.compile(r"^(?P<file><ipython-input-[^>]+>|[~/\w][^\s:]*\.py) in (?P<function>[^(]+).*$")
_ARROW = re.compile(r"^-+> ?(?P<line>\d+) ?(?P<source>.*)$")
_RAISED = re.compile(r"^(?P<type>(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:\([\w.]+\))?)(?::(?: (?P<message>.*))?)?$")
_NAMED = re.compile(
    r"^(?P<type>(?:[A-Za-z_]\w*\.)*[A-Za-z]\w*(?:Error|Exception|Warning|Interrupt|Exit|Needed|Installed|NotFound|Failure)"
    r"(?:\([\w.]+\))?)(?:: (?P<message>.*))?$"
)
_WARNED = re.compile(r"^\s*(?P<file>\S.*?):(?P<line>\d+): (?P<type>(?:\w+\.)*\w*Warning): (?P<message>.*)$")
_TESTED = re.compile(r"^(?P<file>[^\s:][^:]*\.py):(?P<line>\d+):(?: in (?P<function>\S+)| (?P<type>[\w.]+))?\s*$")
_LINKS = {
    "The above exception was the direct cause of the following exception": "cause",
    "During handling of the above exception, another exception occurred": "context",
}
_REMOTE = re.compile(
    r"RemoteTraceback|Process \S+:$|terminated with the following error|Received the following error from"
)
# What is raised where another process has ended: the reason is in that one's own traceback.
_GONE = re.compile(
    r"EOFError|BrokenPipeError|Connection\w+Error|BrokenProcessPool|ProcessExitedException|ChildFailedError|Dist\w*Error"
)


@dataclass(frozen=True)
class Level:
    file: str
    line: int
    function: str = "<module>"
    source: str = ""


@dataclass
class Told:
    """One exception, or one warning."""

    type: str = ""
    message: str = ""
    levels: list[Level] = field(default_factory=list)
    link: str = ""  # how the one before it in the text led to it: cause, context; inside: it is a part of its message
    remote: bool = False  # of another process
    warning: bool = False


def plain(text: str) -> str:
    """Without colours."""
    return _ANSI.sub("", text)


def told_in(text: str) -> list[list[Told]]:
    """Every traceback of a text, in its order: a list for each rank or worker whose lines bear its name."""
    return [found for lines in _streams(text) if (found := list(_tracebacks(lines)) or list(_tested(lines)))]


def warned_in(text: str) -> list[Told]:
    lines = [line for each in _streams(text) for line in each]
    found = []
    for place, line in enumerate(lines):
        if match := _WARNED.match(line):
            source = lines[place + 1].strip() if lines[place + 1 :] and lines[place + 1].startswith("  ") else ""
            level = Level(match["file"], int(match["line"]), source=source)
            found.append(Told(match["type"], match["message"], [level], warning=True))
    return found


def bare_in(text: str) -> Told | None:
    """The last line that reads like the end of a traceback, with what follows it."""
    lines = [line for each in _streams(text) for line in each]
    for place in reversed(range(len(lines))):
        if match := _NAMED.match(lines[place].strip()):
            rest = _until_our_note(lines[place + 1 :])
            return Told(match["type"], "\n".join([match["message"] or "", *rest]).strip())
    return None


def telling(streams: Sequence[Sequence[Told]], own: Callable[[str], bool]) -> tuple[Told, list[Told]]:
    """The one to look at, and those that came of it: the last, but for the error of a worker, and for what only wraps
    another in the user's own code. `own`: whether a file is that."""
    chosen = [_telling(found, own) for found in streams]
    best = next((each for each in chosen if not _GONE.search(each.type)), chosen[0])
    return best, [each for found in streams for each in reversed(found) if each is not best]


def is_raise(source: str) -> bool:
    """Whether an exception was raised by its line on purpose."""
    return re.match(r"raise\b", source.strip()) is not None


def _telling(found: Sequence[Told], own: Callable[[str], bool]) -> Told:
    last = found[-1]
    workers = [each for each in found[:-1] if each.remote or each.link == "inside"]
    if last.link != "inside" and workers:
        same = [each for each in workers if each.type.rpartition(".")[2] == last.type.rpartition(".")[2]]
        if same or last.link == "cause" or _GONE.search(last.type):
            return (same or workers)[-1]
    if _GONE.search(last.type):
        return next((each for each in reversed(found[:-1]) if not _GONE.search(each.type)), last)
    for before, each in zip(found[-2::-1], found[:0:-1], strict=True):
        # In an except that fails by itself, the later error is the one to mend.
        meant = each.link == "cause" or (each.link == "context" and is_raise(each.levels[-1].source))
        if not meant or not own(each.levels[-1].file):
            return each
        last = before
    return last


# ── lines ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _streams(text: str) -> list[list[str]]:
    """The lines without colours, clocks and what names their rank; those of each rank by themselves."""
    whole = plain(text).replace("\r\n", "\n").replace("\N{NO-BREAK SPACE}", " ")
    # What a progress bar has drawn over.
    lines = [_CLOCK.sub("", line.rpartition("\r")[2], count=1) for line in whole.split("\n")]
    begins = [line.partition(BEGIN)[0] for line in lines if BEGIN in line]
    begins = [re.sub(r"(?:\+ Exception Group |Original )$", "", each) for each in begins]
    said = {re.sub(r"\d+", r"\\d+", re.escape(each)) for each in begins if each and not re.search(r"\w {2,}$", each)}
    before = re.compile(f"^(?:{'|'.join([*sorted(said, key=len, reverse=True), *_RANKS])})")
    streams: dict[str, list[str]] = {}
    for line in lines:
        found = before.match(line)
        key = found[0].strip() if found else ""
        streams.setdefault(key, []).append(line[found.end() :] if found else line)
    begun = [key for key, each in streams.items() if any(BEGIN in line for line in each)]
    # A progress bar before the first line, or a clock of a kind we do not know: no names.
    if len(begun) > 1 and all(any(_LEVEL.match(line) for line in streams[key]) for key in begun):
        return [streams[key] for key in begun] + ([streams[""]] if "" in streams and "" not in begun else [])
    return [[before.sub("", line, count=1) for line in lines]]


def _until_our_note(lines: Sequence[str]) -> list[str]:
    ours = next((place for place, line in enumerate(lines) if line.startswith(NOTE)), len(lines))
    return list(lines[:ours])


def _tracebacks(lines: Sequence[str]) -> Iterator[Told]:
    """As Python and IPython print them, and Ray within a message."""
    now: Told | None = None
    said: list[str] | None = None  # the lines of its message, once that has begun
    link, indent = "", 0
    for place, line in enumerate(lines):
        begins = BEGIN in line or line.startswith("ray::")
        if now is not None and said is not None and (begins or _ends(line)):
            now.message = "\n".join(said).strip()
            yield now
        if begins:
            remote = line.startswith("ray::") or _of_a_worker(lines[max(place - 4, 0) : place])
            if said is not None and (remote or line.lstrip().startswith("Original")):
                link = "inside"
            now, said, indent = Told(link=link, remote=remote), None, _depth(line)
            link = ""
        elif _ends(line):
            link = next((kind for text, kind in _LINKS.items() if text in line), "")
            now = said = None
        elif said is not None:
            said.append(line)
        elif level := _level(lines, place):
            now = now or Told()  # a SyntaxError has no first line
            now.levels.append(level)
        elif now is not None and now.levels and _depth(line) <= indent and (match := _RAISED.match(line.strip())):
            now.type, said = match["type"], [match["message"] or ""]
            if said[0].startswith("ray::"):
                now.message = said[0]
                yield now
                now, said = Told(link="inside", remote=True), None
    if now is not None and said is not None:
        now.message = "\n".join(said).strip()
        yield now


def _of_a_worker(before: Sequence[str]) -> bool:
    """By the lines before a traceback."""
    told = [
        bool(_REMOTE.search(each)) for each in before if _REMOTE.search(each) or "Raising the last exception" in each
    ]
    return bool(told) and told[-1]


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _ends(line: str) -> bool:
    return line.strip() == '"""' or line.startswith(NOTE) or any(text in line for text in _LINKS)


def _level(lines: Sequence[str], place: int) -> Level | None:
    line = lines[place]
    if match := _LEVEL.match(line):
        return Level(match["file"], int(match["line"]), match["function"] or "<module>", _below(lines, place))
    match = _CELL.match(line) or _SHOWN.match(line) or _ARROWED.match(line)
    if match is None:
        return None
    arrow = next(
        (found for each in lines[place + 1 : place + 14] if each.strip() and (found := _ARROW.match(each))), None
    )
    parts = match.groupdict()
    number = parts.get("line") or (arrow["line"] if arrow else None)
    if number is None:
        return None
    function = (parts.get("function") or "<module>").rpartition(".")[2].strip()
    return Level(parts["file"], int(number), function, arrow["source"].strip() if arrow else "")


def _below(lines: Sequence[str], place: int) -> str:
    """The source under a level: deeper than it, and no marker."""
    if place + 1 >= len(lines):
        return ""
    line = lines[place + 1]
    return line.strip() if _depth(line) > _depth(lines[place]) and not _LEVEL.match(line) and line.strip(" ^~") else ""


def _tested(lines: Sequence[str]) -> Iterator[Told]:
    """As pytest prints them: the places around what was raised, each line of which begins with an E."""
    now, marked, function = Told(), "", "<module>"
    for place, line in enumerate(lines):
        if re.match(r"^_{3,} .* _{3,}$|^={3,}", line):
            if now.type:
                yield now
            now, marked = Told(), ""
        elif found := re.match(r"^>\s+(\S.*)$", line):
            marked = found[1]
        elif found := re.match(r"^\s+(?:async )?def (\w+)", line):
            function = found[1]
        elif found := re.match(r"^E\s{2,}(.*)$", line):
            raised = _RAISED.match(found[1]) if not now.type else None
            if raised and ("." in raised["type"] or _NAMED.match(found[1])):
                now.type, now.message = raised["type"], raised["message"] or ""
            else:
                now.message = f"{now.message}\n{found[1]}".strip()
        elif found := _TESTED.match(line):
            source = marked or _below(lines, place)
            now.levels.append(Level(found["file"], int(found["line"]), found["function"] or function, source))
            now.type, marked = now.type or found["type"] or "", ""
    if now.type and now.levels:
        yield now
