"""From frames to stacks: each is kept once, as exact as Python knows the place, without what is ours in it."""

from __future__ import annotations

import dis
import opcode
import os
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from rldebug.capture.env_facts import lying_in
from rldebug.capture.place import is_users
from rldebug.capture.registry import locals_of
from rldebug.capture.unnoticed import JUMPS_BACK, operation_before
from rldebug.evidence.timing import Spot

_HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_ALGORITHMS = os.path.join(_HOME, "algos") + os.sep  # to be timed as if they were the user's own
_OURS = tuple(
    os.path.join(_HOME, each)
    for each in (
        *("capture" + os.sep, "evidence" + os.sep, os.path.join("render", "progress_line.py"), "launch.py"),
        *("run.py", "profile.py", "follow.py", "record.py", "collect.py", "child.py", "span.py", "recorded.py"),
    )
)
# Functions of ours that do nothing but call what is the program's; all others do something of their own.
_HANDS_ON = {
    "env_calls.py": {"call", "quick"},
    "env_watch.py": {"call", "quick_step", "quick_batch", "step", "reset", "send", "wait", "create"},
    "inner_steps.py": {"within"},
    "hand_rolled.py": {"call_held", "step", "reset", "quick_step"},
    "launch.py": {"run_as_main", "run_to_its_end", "_run"},
    "paced.py": {"run"},
    "backward.py": {"run"},
    "span.py": {"inner"},
}
# Only for what is known to be one.
_ENV_CALLS = {("env_watch.py", "call"), ("env_watch.py", "quick_step"), ("apart.py", "call_known")}
_PASSED_OVER = " importlib._bootstrap"
_DEEP = 200  # frames; what recurses deeper is cut


@dataclass(frozen=True)
class Stack:
    spots: tuple[Spot, ...]  # outermost first
    inside: bool  # an environment was being called
    ours: bool  # it was we who were at work
    rows: int = 0  # of the input of the outermost network


class _Code:
    """What is known of a function, worked out once: a stack has twenty of them, and a run thousands of stacks."""

    __slots__ = (
        "_before",
        "base",
        "code",
        "file",
        "function",
        "hands_on",
        "kind",
        "launches",
        "name",
        "ours",
        "positions",
        "role",
        "stands",
        "words",
    )

    def __init__(self, code: CodeType) -> None:
        self.code = code  # kept: no other may take its place in memory
        self.file, self.function = _name(code), code.co_name
        self.base = os.path.basename(self.file)
        self.ours = self.file.startswith(_OURS)
        self.launches = self.ours and self.function in ("run_as_main", "_run") and self.base == "launch.py"
        self.stands = self.ours and (self.base, self.function) == ("env_calls.py", "quick")  # see there: `here`
        self.hands_on = self.function in _HANDS_ON.get(self.base, ()) or _stands_in(code)
        self.kind = "user" if is_users(self.file) or self.file.startswith(_ALGORITHMS) else ""
        self.name = getattr(code, "co_qualname", code.co_name)
        self.role: str | None = None  # of its first argument, when it was first seen
        self.words = code.co_code
        found = getattr(code, "co_positions", None)  # from Python 3.11 on
        self.positions: list[Any] = [] if found is None else list(found())
        self._before: dict[int, int] = {}

    def operation_before(self, at: int) -> int:
        found = self._before.get(at)
        if found is None:
            found = self._before[at] = operation_before(self.code, at)
        return found


class Stacks:
    """Each stack by its place in a list. To find one again takes a few microseconds, to describe it some tens."""

    def __init__(self) -> None:
        self.known: list[Stack] = []
        self._places: dict[tuple[int, ...], int] = {}
        self._codes: dict[int, _Code] = {}
        self._spots: dict[tuple[int, int, str], Spot] = {}

    def place(self, frame: FrameType) -> int:
        """The exact place counts in the user's own functions. Within a library its function does: else there would be
        thousands of stacks, and to meet one takes longer than all the rest."""
        codes = self._codes
        known = codes.get(id(frame.f_code)) or self._code(frame.f_code)
        about_to_call = frame.f_back is not None and _just_called(frame, known)
        if about_to_call and frame.f_back is not None:
            frame = frame.f_back  # what took the time came before
            known = codes.get(id(frame.f_code)) or self._code(frame.f_code)
        at = frame.f_lasti
        if known.kind and at >= 0 and (about_to_call or known.words[at] in JUMPS_BACK):
            at = known.operation_before(at)
        key = [at]
        each: FrameType | None = frame
        while each is not None:
            code = each.f_code
            number = id(code)
            known = codes.get(number) or self._code(code)
            key.append(number)
            if known.kind:
                key.append(each.f_lasti)
            elif known.launches:
                break  # how we came to run it
            each = each.f_back
        if not known.kind:
            key[0] = 0
        found = self._places.get(tuple(key))
        return self._meet(tuple(key), frame, at) if found is None else found

    def _meet(self, key: tuple[int, ...], innermost: FrameType, at: int) -> int:
        frames: list[tuple[FrameType, _Code]] = []
        each: FrameType | None = innermost
        while each is not None and len(frames) < _DEEP:
            known = self._code(each.f_code)
            if known.launches:
                break
            frames.append((each, known))
            each = each.f_back
        spots: list[Spot] = []
        inside, ours, entered, rows = False, False, False, 0
        for frame, code in reversed(frames):
            if code.ours:
                ours = not code.hands_on
                if (code.base, code.function) in _ENV_CALLS or (code.stands and "here" in locals_of(frame)):
                    inside = entered = True
            elif not ours:
                place = at if frame is innermost else frame.f_lasti
                spots.append(self._spot(frame, code, place, "environment" if entered else ""))
                entered = False
                if not rows and code.function == "_call_impl":
                    rows = _rows(frame)
        self._places[key] = len(self.known)
        self.known.append(Stack(tuple(each for each in spots if each.file[:1] != "<"), inside, ours, rows))
        return len(self.known) - 1

    def _code(self, code: CodeType) -> _Code:
        found = self._codes.get(id(code))
        if found is None:
            found = self._codes[id(code)] = _Code(code)
        return found

    def _spot(self, frame: FrameType, code: _Code, at: int, otherwise: str) -> Spot:
        if code.role is None:
            code.role = role_of(_receiver(frame))
        role = code.role or otherwise  # an environment of no library is one because it is played
        key = (id(code.code), at, role)
        found = self._spots.get(key)
        if found is None:
            line, end_line, column, end_column = _position(frame, code, at)
            path = code.file if code.file[:1] == "<" else os.path.abspath(code.file)
            kind = code.kind or role
            found = self._spots[key] = Spot(path, code.name, line, kind, end_line, column, end_column, role)
        return found


def _name(code: CodeType) -> str:
    return code.co_filename.partition(_PASSED_OVER)[0]


def _stands_in(code: CodeType) -> bool:
    """Whether it is a function of ours in the place of another, which it calls; see stand_in.py."""
    return code.co_filename.endswith(_PASSED_OVER)


def _just_called(frame: FrameType, code: _Code) -> bool:
    """Whether it has done nothing yet. Python looks for signals when a function begins or goes on, but not at `a @ b`:
    a product that took long is seen in whatever function is called next."""
    return frame.f_lasti < 0 or code.words[frame.f_lasti] == _RESUME


_RESUME = opcode.opmap.get("RESUME", -1)  # from Python 3.11 on


def _position(frame: FrameType, code: _Code, at: int) -> tuple[int, int, int, int]:
    """Line, last line, column, last column; from 0 in bytes, and both 0 where they are not known."""
    line = frame.f_lineno or code.code.co_firstlineno
    if not code.positions or at < 0:
        return line, line, 0, 0
    start, end, column, end_column = code.positions[at // 2]
    if start is None:
        line = _led_to(code, frame.f_lasti) or line
    return start or line, end or line, column or 0, end_column or 0


def _led_to(code: _Code, place: int) -> int:
    """The line that a jump leads to which has none of its own: from the end of a loop to its head."""
    for each in dis.get_instructions(code.code):
        if each.offset == place and each.opcode in (*dis.hasjrel, *dis.hasjabs):
            line: int | None = code.positions[each.argval // 2][0]
            return line or 0
    return 0


def _receiver(frame: FrameType) -> Any:
    """Its first argument."""
    code = frame.f_code
    return locals_of(frame).get(code.co_varnames[0]) if code.co_argcount else None


def _rows(frame: FrameType) -> int:
    """Of the first tensor that a network is given."""
    given = locals_of(frame)
    for each in (*given.get("args", ()), *given.get("kwargs", {}).values()):
        if type(each) in (torch.Tensor, nn.Parameter):  # one of another class may answer as it likes
            return each.shape[0] if each.dim() > 1 else 1
    return 0


def role_of(thing: Any) -> str:
    """What an object is to a training loop."""
    cls = type(thing)
    if issubclass(cls, nn.Module):  # isinstance() would ask the object
        return "module"
    if issubclass(cls, Optimizer):
        return "optimizer"
    names = {each.__name__ for each in cls.__mro__}
    if names & {"Wrapper", "VectorWrapper", "VecEnvWrapper", "BaseWrapper"}:  # first: they are environments too
        return "wrapper"
    if names & {"VectorEnv", "VecEnv"}:
        return "vector"
    if "Env" in names and _steps(cls):
        return "environment"
    return ""


def _steps(cls: type) -> bool:
    return lying_in(cls, "step") is not None and lying_in(cls, "reset") is not None
