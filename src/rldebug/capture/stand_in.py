"""Stand-ins: functions of ours in the place of somebody else's, that look and behave like them.

A stand-in must not show. Its name, signature and place of definition are those of the original. A warning that the
original raises "two frames up" must name the user's line and not ours: Python passes over frames of its import
machinery there, which it knows by the name of their file, so ours says the same of itself.

What the stand-in of a method refers to must be modules and the original only. A class of `__main__` may be pickled by
value to be sent to another process, with our function in it; a session in its closure could not be.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from types import FrameType, FunctionType
from typing import Any

import torch

from rldebug.capture.modules import transformed
from rldebug.capture.switch import Switchboard

_PASSED_OVER = " importlib._bootstrap"
_TORCH = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_DEEP = 64


def stand_in(original: Callable[..., Any], replacement: Callable[..., Any]) -> Any:
    """`replacement`, dressed as the original."""
    functools.update_wrapper(replacement, original)
    code = replacement.__code__
    replacement.__code__ = code.replace(co_filename=code.co_filename + _PASSED_OVER)
    return replacement


def replace_in_family(
    switch: Switchboard, group: str, base: type, names: tuple[str, ...], make: Callable[[str, Any], Any]
) -> None:
    """Replace methods of a class and of everything that inherits from it, also of classes yet to be defined."""

    def dress(cls: type) -> None:
        for name in names:
            method = vars(cls).get(name)
            if isinstance(method, FunctionType) and not method.__code__.co_filename.endswith(_PASSED_OVER):
                switch.replace(group, cls, name, functools.partial(make, name))

    def coming(original: Any) -> Any:
        own = "__init_subclass__" in vars(base)

        def __init_subclass__(cls: type, **kwargs: Any) -> None:
            if own:
                original.__get__(None, cls)(**kwargs)
            else:
                super(base, cls).__init_subclass__(**kwargs)  # type: ignore[arg-type]
            switch.guard(group, dress, cls)

        return classmethod(__init_subclass__)  # type: ignore[arg-type]

    todo: list[type] = [base]
    seen = {base}
    while todo:
        each = todo.pop()
        dress(each)
        for following in list[type](type.__subclasses__(each)):
            if following not in seen:
                seen.add(following)
                todo.append(following)
    switch.replace(group, base, "__init_subclass__", coming)


def out_of_reach() -> bool:
    """Where no number may be asked for: in compilation, in a transform of torch.func, as a CUDA graph is captured."""
    if torch.compiler.is_compiling() or transformed() or torch._C._get_tracing_state() is not None:
        return True
    return torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing()  # type: ignore[no-untyped-call]


def calling_line() -> tuple[str, int]:
    """Who called into torch: the innermost frame that is neither torch's nor ours. A library's own line counts."""
    frame: FrameType | None = sys._getframe(1)
    for _ in range(_DEEP):
        if frame is None:
            break
        file = frame.f_code.co_filename
        if not file.startswith((_TORCH, _OURS)):
            return file, frame.f_lineno
        frame = frame.f_back
    return "", 0


def tell_torchscript(function: Any, operator: str, switch: Switchboard) -> None:
    """torch.jit.script knows these functions by their identity."""
    table: dict[int, str] = torch.jit._builtins._get_builtin_table()  # type: ignore[no-untyped-call]
    table[id(function)] = operator
    switch.when_undone(lambda: table.pop(id(function), None))
