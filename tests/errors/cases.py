"""Programs that end with a real error, and what must be said of it.

The line to be blamed ends with the comment `# here`. `tells` are words that the finding must hold: the name of the
tensor, its size, the place where it was made.
"""

from __future__ import annotations

import inspect
import json
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rldebug.diagnose import diagnose
from rldebug.evidence.crash import Crash, crash_from_text, crash_of
from rldebug.finding import Finding

_HERE = "# here"


@dataclass(frozen=True)
class Case:
    id: str
    code: str
    tells: tuple[str, ...]
    program: Callable[[], Any]
    only_text: bool  # cannot be raised on this machine: the program raises the text itself
    text_too: bool  # a printed traceback is enough to name it
    warns: bool  # it is a warning: explained as an error is

    @property
    def line(self) -> int | None:
        """Counted in the file."""
        lines, first = inspect.getsourcelines(self.program)
        marked = [first + place for place, line in enumerate(lines) if line.rstrip().endswith(_HERE)]
        return marked[0] if marked else None


def raises(
    id: str, code: str, *tells: str, only_text: bool = False, text_too: bool = True, warns: bool = False
) -> Callable[[Callable[[], Any]], Case]:
    return lambda program: Case(id, code, tells, program, only_text, text_too, warns)


def cases_in(namespace: dict[str, Any]) -> list[Case]:
    return [each for each in namespace.values() if isinstance(each, Case)]


def check(case: Case) -> Finding:
    """What is said of it live; and, where the text is enough, that the text leads to the same rule."""
    error = _error(case)
    told = crash_of(error, env_steps=100, updates=10)
    finding = _only_root(case, Crash.from_dict(json.loads(json.dumps(told.to_dict()))), "live")
    if case.line is not None:
        assert finding.where.line == case.line, f"{case.id}: blames line {finding.where.line}, expected {case.line}"
    said = f"{finding.message} {finding.seen} {finding.help}"
    for word in case.tells:
        assert word in said, f"{case.id}: {word!r} is not in: {said}"
    if case.text_too:
        printed = crash_from_text("".join(traceback.format_exception(error)))
        assert printed is not None
        _only_root(case, printed, "from its text")
    return finding


def _error(case: Case) -> BaseException:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error" if case.warns else "ignore")
            case.program()
    except Exception as error:
        return error
    raise AssertionError(f"{case.id}: the program ended well")


def _only_root(case: Case, crash: Crash, how: str) -> Finding:
    roots = diagnose([crash]).roots
    assert [each.code for each in roots] == [case.code], f"{case.id} {how}: {crash.said} -> {[r.code for r in roots]}"
    return roots[0]
