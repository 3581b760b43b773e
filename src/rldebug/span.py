"""rldebug.span: the user's own name for a stretch of the program, in `rldebug profile`.

    with rldebug.span("reward model"):
        rewards = model(texts)

Without a profile it costs less than a microsecond, and does nothing.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

_under_way: dict[int, list[str]] = {}  # by thread


class span:
    """A context manager, and a decorator. The innermost counts."""

    def __init__(self, name: str) -> None:
        if not isinstance(name, str) or not name.strip():
            raise TypeError(f'rldebug.span takes a name, like rldebug.span("reward model"), not {name!r}')
        self.name = name.strip()

    def __enter__(self) -> span:
        _under_way.setdefault(threading.get_ident(), []).append(self.name)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        names = _under_way.get(threading.get_ident())
        if names:
            names.pop()

    def __call__(self, function: Function) -> Function:
        if not callable(function):
            raise TypeError(f"rldebug.span({self.name!r}) decorates a function, not {function!r}")

        @functools.wraps(function)
        def inner(*args: Any, **kwargs: Any) -> Any:
            with span(self.name):
                return function(*args, **kwargs)

        return inner  # type: ignore[return-value]


def under_way(thread: int) -> str:
    """The name of the innermost, "" where there is none."""
    names = _under_way.get(thread)
    return names[-1] if names else ""
