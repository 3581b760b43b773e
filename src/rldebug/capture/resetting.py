"""Who resets an environment: the step of another environment of the program's own, or a loop."""

from __future__ import annotations

import inspect
import sys
from types import FrameType, FunctionType
from typing import Any

from torch import nn

from rldebug.capture.env_facts import lying_in
from rldebug.capture.place import is_users, shown

_FRAMES = 48  # up to the program's own
_OWN = 4  # of the program's own: a step may call a method that resets


def stepping_frame(env: Any) -> list[Any] | None:
    """Class, file and line of the `step` that calls `reset` of this environment, if it is that of another one.

    One that is given an action, of an object that can be reset too.
    """
    frame: FrameType | None = sys._getframe(1)
    here: tuple[str, int] | None = None
    own = 0
    for _ in range(_FRAMES):
        if frame is None or own == _OWN:
            return None
        code = frame.f_code
        if is_users(code.co_filename):
            own += 1
            here = here or (shown(code.co_filename), frame.f_lineno)
            owner = frame.f_locals.get(code.co_varnames[0]) if code.co_argcount > 1 else None
            if owner is not None and owner is not env and _steps(type(owner), code):
                return [type(owner).__name__, *here]
        frame = frame.f_back
    return None


def _steps(cls: type, code: Any) -> bool:
    step = lying_in(cls, "step")
    if not isinstance(step, FunctionType) or issubclass(cls, nn.Module) or lying_in(cls, "reset") is None:
        return False
    return getattr(inspect.unwrap(step), "__code__", None) is code
