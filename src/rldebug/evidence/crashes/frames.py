"""The levels of a traceback, and what lay in the frames."""

from __future__ import annotations

import linecache
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, TracebackType

from rldebug.evidence.crashes.expression import expression_at, names_in, values_of
from rldebug.evidence.crashes.facts import (
    Fact,
    action_of,
    contained,
    fact_of,
    facts_of,
    is_module,
    kind_of,
    owner_of,
)
from rldebug.evidence.crashes.origin import is_ours, is_own, module_of

_FIRST, _LAST = 12, 40  # frames that are kept: an endless recursion has thousands
_OWN = 8  # innermost frames of the user's own code of which facts are kept
_TELLING = (
    "torch._tensor",
    "gymnasium.utils.env_checker",
    "gymnasium.utils.passive_env_checker",
    "gymnasium.vector.sync_vector_env",
    "gymnasium.vector.utils.shared_memory",
)

Level = tuple[FrameType, int, int]
"""Frame, line, instruction."""


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


def walk(trace: TracebackType | None) -> list[Level]:
    """Frame, line and instruction, from the outermost in; without ours and without what started the program."""
    levels: list[Level] = []
    while trace is not None:
        levels.append((trace.tb_frame, trace.tb_lineno, trace.tb_lasti))
        trace = trace.tb_next
    return shortened(levels)


def shortened(levels: list[Level]) -> list[Level]:
    levels = [each for each in levels if not is_ours(each[0].f_code.co_filename)]
    while levels and "runpy" in levels[0][0].f_code.co_filename:
        del levels[0]
    return levels if len(levels) <= _FIRST + _LAST else levels[:_FIRST] + levels[-_LAST:]


def frames_of(levels: list[Level]) -> tuple[Frame, ...]:
    own = [place for place, (frame, _, _) in enumerate(levels) if own_frame(frame)]
    # And what backward() was called on, which often has no name; and what a checker of environments was shown.
    shown = [place for place, (frame, _, _) in enumerate(levels) if frame.f_globals.get("__name__") in _TELLING]
    wanted = {*own[-_OWN:], *shown[-_OWN:], len(levels) - 1}
    told = []
    for place, (frame, line, instruction) in enumerate(levels):
        try:
            told.append(_frame(frame, line, instruction, detailed=place in wanted))
        except Exception:
            told.append(_bare(frame, line))
    return tuple(told)


def own_frame(frame: FrameType) -> bool:
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


def unparsed(error: BaseException) -> tuple[Frame, ...]:
    """The line that is no Python: no frame has come to it."""
    if not isinstance(error, SyntaxError) or not error.filename or not error.lineno:
        return ()
    source = (error.text or "").strip()[:300]
    module = module_of(error.filename)
    return (Frame(error.filename, error.lineno, "<module>", module, is_own(error.filename, module), source, source),)
