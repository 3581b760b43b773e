"""Which methods of a class begin an episode and play a step of it, where they are not called `reset` and `step`.

By what their code does: the step takes an action, changes the object, and returns a tuple as steps do; whoever begins
an episode takes nothing that it must be given, returns something, and sets anew what the step changes. That does not
make the class an environment: only worth looking at what the two return.
"""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable
from types import CodeType, FunctionType

from rldebug.capture.env_facts import lying_in

_DEEP = 3  # methods that are called by methods
_TUPLES = (3, 4, 5)  # what steps return: with the observation, the reward and a flag at least
_REQUIRED = 2  # arguments that a step may insist on
_LAZY = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def other_names(cls: type, own: Callable[[str], bool]) -> dict[str, str]:
    """{"name of the method": "reset" or "step"}, both of them, or nothing. own: whether a file is the program's."""
    codes = _codes(cls)
    public = {name: code for name, code in codes.items() if not name.startswith("_") and own(code.co_filename)}
    steps = ["step"] if "step" in codes else [name for name, code in public.items() if _may_step(cls, name, code)]
    if len(steps) != 1:
        return {}
    step = steps[0]
    changed = _stored(codes, step)
    if not changed:
        return {}
    if "reset" in codes:
        return {"reset": "reset", step: "step"}
    shared = {
        name: len(changed & _stored(codes, name))
        for name, code in public.items()
        if name != step and code.co_argcount - len(lying_in(cls, name).__defaults__ or ()) == 1 and _gives(code)
    }
    most = max(shared.values(), default=0)
    first = [name for name, count in shared.items() if count == most]
    return {first[0]: "reset", step: "step"} if most and len(first) == 1 else {}


def _codes(cls: type) -> dict[str, CodeType]:
    """Of the plain methods of a class and its bases."""
    names = {name for base in cls.__mro__ for name, each in vars(base).items() if isinstance(each, FunctionType)}
    found = {name: lying_in(cls, name) for name in names}
    return {
        name: each.__code__
        for name, each in found.items()
        if isinstance(each, FunctionType) and not each.__code__.co_flags & _LAZY
    }


def _may_step(cls: type, name: str, code: CodeType) -> bool:
    required = code.co_argcount - 1 - len(lying_in(cls, name).__defaults__ or ())
    return code.co_argcount > 1 and required <= _REQUIRED and any(size in _TUPLES for size in _returned(code))


def _gives(code: CodeType) -> bool:
    return any(size >= 0 for size in _returned(code))


def _returned(code: CodeType) -> list[int]:
    """Of each return: the length of the tuple that is built there, 0 of anything else, -1 of None."""
    found: list[int] = []
    before: dis.Instruction | None = None
    for each in dis.get_instructions(code):
        if each.opname == "RETURN_VALUE" and before is not None:
            nothing = before.opname == "LOAD_CONST" and before.argval is None
            found.append(-1 if nothing else int(before.arg or 0) if before.opname == "BUILD_TUPLE" else 0)
        before = each
    return found


def _stored(codes: dict[str, CodeType], name: str, deep: int = _DEEP) -> set[str]:
    """Attributes that a method sets, and those that it calls."""
    code = codes[name]
    found = {str(each.argval) for each in dis.get_instructions(code) if each.opname == "STORE_ATTR"}
    if deep:
        for inner in set(code.co_names) & codes.keys() - {name}:
            found |= _stored(codes, inner, deep - 1)
    return found
