"""Crash: the exception that ended a program, where it was raised, and what lay there."""

from __future__ import annotations

import json
import linecache
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from rldebug.evidence.crash_facts import (
    Fact,
    action_of,
    contained,
    expression_at,
    fact_of,
    facts_of,
    is_module,
    kind_of,
    names_in,
    owner_of,
    values_of,
)
from rldebug.evidence.crash_layer import layer_of
from rldebug.evidence.crash_origin import is_ours, is_own, module_of
from rldebug.finding import Where

_FIRST, _LAST = 12, 40  # frames that are kept: an endless recursion has thousands
_OWN = 8  # innermost frames of the user's own code of which facts are kept
_LONGEST = 2000  # characters of a message


@dataclass(frozen=True)
class Frame:
    """One level of the traceback."""

    file: str
    line: int
    function: str
    module: str  # torch.nn.modules.linear
    own: bool  # of the user's own code: neither of an installed package nor of Python itself
    source: str = ""  # the line
    expression: str = ""  # the part of it that failed
    owner: str = ""  # whose method it is: network, environment, buffer, optimizer, distribution; empty for others
    owner_type: str = ""
    bases: tuple[str, ...] = ()  # of the owner's class
    action: Fact | None = None  # what an environment's step() was given
    contained: bool | None = None  # whether that is one of its action space
    operands: tuple[str, ...] = ()  # names in the expression whose facts are known
    facts: Mapping[str, Fact] = field(default_factory=dict)

    @property
    def place(self) -> str:
        return f"{Path(self.file).name}:{self.line}"


@dataclass(frozen=True)
class Crash:
    """How a program came to its end by an exception. Shapes, types and places; no data."""

    type: str  # ValueError, gymnasium.error.ResetNeeded
    message: str
    bases: tuple[str, ...] = ()  # the classes the exception inherits from
    chain: tuple[tuple[str, str], ...] = ()  # type and message of the exceptions before this one, the root last
    notes: tuple[str, ...] = ()
    frames: tuple[Frame, ...] = ()  # from the outermost in
    layer: Fact | None = None  # the layer of torch.nn that was being called
    env_steps: int | None = None
    updates: int | None = None

    @property
    def own(self) -> tuple[Frame, ...]:
        return tuple(frame for frame in self.frames if frame.own)

    @property
    def at(self) -> Frame | None:
        """The innermost frame of the user's own code."""
        return self.own[-1] if self.own else None

    @property
    def last(self) -> Frame | None:
        """The frame that raised, or called what raised."""
        return self.frames[-1] if self.frames else None

    @property
    def where(self) -> Where:
        frame = self.at or self.last
        return Where(
            file=frame.file if frame else None,
            line=frame.line if frame else None,
            update=self.updates,
            env_step=self.env_steps,
        )

    @property
    def said(self) -> str:
        """`ValueError: …`, one line."""
        text = " ".join(self.message.split())
        name = self.type.rpartition(".")[2]
        return f"{name}: {text[:197]}…" if len(text) > 200 else f"{name}: {text}" if text else name

    def says(self, *patterns: str) -> bool:
        return any(re.search(each, self.message) for each in patterns)

    def is_a(self, *names: str) -> bool:
        """Whether the exception is of one of these classes, or inherits from one."""
        return bool({self.type.rpartition(".")[2], *self.bases} & set(names))

    def inside(self, *modules: str) -> bool:
        """Whether one of these packages was being called from the user's innermost line, or raised."""
        after = self.frames[self.frames.index(self.at) + 1 :] if self.at else self.frames
        return any(frame.module == each or frame.module.startswith(f"{each}.") for frame in after for each in modules)

    def operands(self) -> dict[str, Fact]:
        """The names in the user's line that failed, with what they held."""
        return {name: self.at.facts[name] for name in self.at.operands if name in self.at.facts} if self.at else {}

    def held(self, *kinds: str) -> Iterator[tuple[Frame, str, Fact]]:
        """Every fact of these kinds, from the innermost frame out."""
        for frame in reversed(self.frames):
            for name, fact in frame.facts.items():
                if fact.get("kind") in kinds:
                    yield frame, name, fact

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Crash:
        frames = tuple(
            Frame(**{**each, "operands": tuple(each["operands"]), "bases": tuple(each["bases"])})
            for each in data["frames"]
        )
        return Crash(
            type=str(data["type"]),
            message=str(data["message"]),
            bases=tuple(data["bases"]),
            chain=tuple((str(kind), str(text)) for kind, text in data["chain"]),
            notes=tuple(data["notes"]),
            frames=frames,
            layer=data["layer"],
            env_steps=data["env_steps"],
            updates=data["updates"],
        )


def is_crash(error: BaseException | None) -> bool:
    """Ctrl-C and sys.exit() end a program as they are meant to."""
    return isinstance(error, Exception)


def crash_of(error: BaseException, *, env_steps: int | None = None, updates: int | None = None) -> Crash:
    """All that is wanted of an exception. Nothing of the program is kept alive by it, and it never raises."""
    chain = list(_chain(error))
    root = _telling(chain)
    if (child := crash_from_text(_text(root), env_steps=env_steps, updates=updates)) is not None:
        return replace(child, chain=((_name(root), "raised in another process"),))
    before = tuple((_name(each), _text(each)) for each in chain if each is not root)
    notes = tuple(str(each)[:_LONGEST] for each in getattr(error, "__notes__", ()) or ())
    try:
        frames, layer = _frames(root.__traceback__)
    except Exception:  # half of a program that has failed: better the message alone than nothing
        frames, layer = (), None
    return Crash(
        type=_name(root),
        message=_text(root),
        bases=tuple(each.__name__ for each in type(root).__mro__[:-2]),
        chain=before,
        notes=notes,
        frames=frames,
        layer=layer,
        env_steps=env_steps,
        updates=updates,
    )


def read_crash(folder: Path | str) -> Crash | None:
    """The crash that a run folder tells of; None where the program ended well, or nothing can be read."""
    try:
        stored = json.loads((Path(folder) / "run.json").read_bytes()).get("crash")
        return Crash.from_dict(stored) if stored else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None  # a hand may have been at work


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The exception and those it was raised from."""
    seen: set[int] = set()
    each: BaseException | None = error
    while each is not None and id(each) not in seen and len(seen) < 8:
        seen.add(id(each))
        yield each
        each = each.__cause__ or (None if each.__suppress_context__ else each.__context__)


def _telling(chain: list[BaseException]) -> BaseException:
    """The one to look at. `raise RuntimeError("training failed") from error` in the user's own code tells nothing, and
    what it was raised from does; a library that does so has put the better text on top."""
    told = chain[0]
    while told.__cause__ is not None and told.__cause__ in chain and told.__cause__.__traceback__ is not None:
        raised_by = [frame for frame, _, _ in _walk(told.__traceback__)][-1:]
        if not raised_by or not is_own(raised_by[0].f_code.co_filename, raised_by[0].f_globals.get("__name__", "")):
            break
        told = told.__cause__
    return told


def _name(error: BaseException) -> str:
    kind = type(error)
    return (
        kind.__qualname__ if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}.{kind.__qualname__}"
    )


def _text(error: BaseException) -> str:
    try:
        return str(error)[:_LONGEST]
    except Exception:
        return ""


def _walk(trace: TracebackType | None) -> list[tuple[FrameType, int, int]]:
    """Frame, line and instruction, from the outermost in; without ours and without what started the program."""
    levels: list[tuple[FrameType, int, int]] = []
    while trace is not None:
        levels.append((trace.tb_frame, trace.tb_lineno, trace.tb_lasti))
        trace = trace.tb_next
    levels = [each for each in levels if not is_ours(each[0].f_code.co_filename)]
    while levels and "runpy" in levels[0][0].f_code.co_filename:
        del levels[0]
    return levels if len(levels) <= _FIRST + _LAST else levels[:_FIRST] + levels[-_LAST:]


def _frames(trace: TracebackType | None) -> tuple[tuple[Frame, ...], Fact | None]:
    levels = _walk(trace)
    own = [place for place, (frame, _, _) in enumerate(levels) if _own_frame(frame)]
    # And what backward() was called on, which often has no name.
    losses = [place for place, (frame, _, _) in enumerate(levels) if frame.f_globals.get("__name__") == "torch._tensor"]
    wanted = {*own[-_OWN:], *losses, len(levels) - 1}
    told = []
    for place, (frame, line, instruction) in enumerate(levels):
        try:
            told.append(_frame(frame, line, instruction, detailed=place in wanted))
        except Exception:
            told.append(_bare(frame, line))
    try:
        layer = layer_of([frame for frame, _, _ in levels])
    except Exception:
        layer = None
    return tuple(told), layer


def _own_frame(frame: FrameType) -> bool:
    return is_own(frame.f_code.co_filename, frame.f_globals.get("__name__", ""))


def _bare(frame: FrameType, line: int) -> Frame:
    code = frame.f_code
    module = str(frame.f_globals.get("__name__", ""))
    return Frame(code.co_filename, line, code.co_name, module, is_own(code.co_filename, module))


def _frame(frame: FrameType, line: int, instruction: int, *, detailed: bool) -> Frame:
    code, bare = frame.f_code, _bare(frame, line)
    owner = owner_of(frame)
    kind = kind_of(owner) if owner is not None else ""
    steps = kind == "environment" and code.co_name in ("step", "step_async", "step_wait")
    action = action_of(frame) if steps else None
    source = linecache.getline(code.co_filename, line).strip()
    expression = expression_at(code, instruction, line) if detailed else ""
    named = values_of(names_in(expression) + _assigned(source, expression), frame)
    facts = facts_of(frame, named) if detailed and not (is_module(owner) and not bare.own) else {}
    return Frame(
        file=bare.file,
        line=line,
        function=bare.function,
        module=bare.module,
        own=bare.own,
        source=source[:300],
        expression=expression[:300],
        owner=kind,
        owner_type=type(owner).__name__ if owner is not None else "",
        bases=tuple(each.__name__ for each in type(owner).__mro__[:8]) if owner is not None else (),
        action=fact_of(action) if action is not None else None,
        contained=contained(owner, action) if action is not None else None,
        operands=tuple(name for name in named if name in facts),
        facts=facts,
    )


def _assigned(source: str, expression: str) -> list[str]:
    """Where an assignment failed, the expression is only what was assigned to."""
    _, found, after = source.partition(expression)
    return names_in(source) if expression and found and re.match(r"\s*(,.*)?=[^=]", after) else []


# ── a traceback that is only text: what a parent process is told of a child's ───────────────────────────────────────

_BEGIN = "Traceback (most recent call last):"
_LEVEL = re.compile(r'^\s*File "([^"]+)", line (\d+), in (\S+)\n?(?:\s+(?!File ")(.*))?', re.MULTILINE)
_RAISED = re.compile(r"^((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)(?:: (.*))?\Z", re.MULTILINE | re.DOTALL)


def crash_from_text(text: str, *, env_steps: int | None = None, updates: int | None = None) -> Crash | None:
    """What a printed traceback tells: places and the message, no facts. None where there is no traceback in it."""
    if _BEGIN not in text:
        return None
    body = text[text.rindex(_BEGIN) + len(_BEGIN) :]
    levels = list(_LEVEL.finditer(body))
    if not levels:
        return None
    rest = body[levels[-1].end() :]
    # Markers under the line, as newer versions of Python print them, come before the exception.
    raised = next((_RAISED.match(rest[begin:].strip()) for begin in _line_starts(rest)), None)
    frames = []
    for level in levels:
        file, line, function, source = level.groups()
        module = module_of(file)
        own, shown = is_own(file, module), (source or "").strip()
        if not is_ours(file):
            frames.append(Frame(file, int(line), function, module, own, source=shown, expression=shown))
    kind, message = (raised.group(1), raised.group(2) or "") if raised else ("Exception", rest.strip())
    return Crash(
        type=kind.removeprefix("builtins."),
        message=message.strip()[:_LONGEST],
        frames=tuple(frames),
        env_steps=env_steps,
        updates=updates,
    )


def _line_starts(text: str) -> Iterator[int]:
    begin = 0
    for line in text.splitlines(keepends=True):
        if re.match(r"[A-Za-z_]", line):
            yield begin
        begin += len(line)
