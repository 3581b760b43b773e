"""Options: what the program was told on its command line, and which settings no line of it uses.

The namespace that argparse returns is left alone: anything put in its place would show, in a type, a pickle, a printed
config. Which options are read is found in the program's source when it has ended: see `usage`.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rldebug.capture.flags import ignored_flags
from rldebug.capture.place import is_users, shown, users_frame
from rldebug.capture.stand_in import stand_in
from rldebug.capture.usage import usage_of

if TYPE_CHECKING:
    from rldebug.capture.session import Session

GROUP = "arguments"
_FILES = 200
_LARGE = 2_000_000  # characters in all: a program, not the libraries it brings along
_OPTIONS = 200
_SOURCES = (argparse.__file__, os.path.abspath(argparse.__file__))


class Arguments:
    def __init__(self, session: Session) -> None:
        self.session = session
        self.options: dict[str, dict[str, Any]] = {}
        self.inside = False  # a parser of subcommands asks the parsers below it

    def parsed(self, parser: argparse.ArgumentParser, namespace: Any) -> None:
        frame = users_frame()
        line = None if frame is None else (shown(frame.f_code.co_filename), frame.f_lineno)
        for name, value in list(vars(namespace).items())[:_OPTIONS]:
            self.options[name] = {"value": _plain(value), "default": _plain(parser.get_default(name)), "line": line}

    def at_finish(self) -> None:
        sources = user_sources()
        usage = usage_of(sources)
        for name, option in self.options.items():
            reads = usage.reads(name, "argparse")
            if reads is not None:
                self._tell(name, where="argparse", read=reads, shown=usage.shown.get(name, 0), **option)
        for each in usage.settings:
            reads = usage.reads(each.name, each.where, each.holder)
            if reads == 0:
                self._tell(
                    each.name, value=each.value, where=each.where, read=0, shown=usage.shown.get(each.name, 0),
                    line=(each.file, each.line), holder=each.holder,
                )  # fmt: skip
        for each in usage.unread_parameters:
            if usage.by_name:
                self._tell(
                    each.name, value=each.value, where="parameter", read=0, line=(each.file, each.line),
                    holder=each.holder,
                )  # fmt: skip

        for flag in ignored_flags(sources):
            self.session.note(
                "flag", name=flag.name, function=flag.function, default=flag.default, line=(flag.file, flag.line),
                called=(flag.file, flag.called),
            )  # fmt: skip

    def _tell(self, name: str, **detail: Any) -> None:
        self.session.note("option", name=name, **detail)


def install(session: Session) -> None:
    seen = Arguments(session)

    def make(original: Callable[..., Any]) -> Any:
        def parse_known_args(self: Any, *args: Any, **kwargs: Any) -> Any:
            outermost, seen.inside = not seen.inside, True
            try:
                result = original(self, *args, **kwargs)
            finally:
                if outermost:
                    seen.inside = False
            if outermost and _asked_by_user():
                session.switch.guard(GROUP, seen.parsed, self, result[0])
            return result

        return stand_in(original, parse_known_args)

    # parse_args asks this one too.
    session.switch.replace(GROUP, argparse.ArgumentParser, "parse_known_args", make)
    session.on_finish.append(lambda: session.switch.guard(GROUP, seen.at_finish))


def _asked_by_user() -> bool:
    """Whether the program parses, rather than a library that has options of its own."""
    frame = sys._getframe(2)
    for _ in range(6):
        file = frame.f_code.co_filename
        if file not in _SOURCES:
            return is_users(file)
        if frame.f_back is None:
            return False
        frame = frame.f_back
    return False


def user_sources() -> dict[str, str]:
    """The source of every module of the program's own that is loaded, by file."""
    found: dict[str, str] = {}
    left = _LARGE
    for module in list(sys.modules.values()):
        if len(found) >= _FILES:
            break
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or not file.endswith(".py") or not is_users(file):
            continue
        try:
            with open(file, encoding="utf-8", errors="replace") as opened:
                text = opened.read(left + 1)
        except OSError:
            continue
        if len(text) <= left:
            left -= len(text)
            found[shown(file)] = text
    return found


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value if not isinstance(value, str) else value[:120]
    return repr(value)[:120]
