"""Which methods of a class may play a step that returns no observation, and which others set it back.

By what their code does, as in other_names.py. That says only which are worth looking at: what they return decides.
"""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FunctionType

from rldebug.capture.env_facts import lying_in

_DEEP = 3  # methods that are called by methods
_REQUIRED = 2  # arguments that a step may insist on
_MANY = 60  # methods; a world has fewer
_LAZY = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


@dataclass(frozen=True)
class Methods:
    steps: frozenset[str]  # may be one
    plain: bool  # one of them returns a pair: more than likely
    changing: frozenset[str]  # set what such a step sets: an episode may begin with them
    all: frozenset[str]
    getters: frozenset[str]  # properties


def methods_of(cls: type, own: Callable[[str], bool]) -> Methods | None:
    """None where there is no such step. own: whether a file is the program's."""
    codes, getters = _codes(cls, own)
    if len(codes) > _MANY:
        return None
    sizes = {name: _returned(code) for name, code in codes.items()}
    steps = {name for name, code in codes.items() if _takes(cls, name, code) and sizes[name] - {-1}}
    # A step changes the object: else it answers a question, as a policy does.
    written = {name: _written(codes, name) for name in codes}
    steps = {name for name in steps if written[name]}
    if not steps:
        return None
    changed = frozenset().union(*(written[name] for name in steps))
    changing = {
        name for name in codes if name not in steps and name != "__init__" and _changes(name, written, sizes, changed)
    }
    return Methods(
        frozenset(steps),
        any(2 in sizes[name] for name in steps),
        frozenset(changing | steps),
        frozenset(codes),
        frozenset(getters),
    )


def returns_pairs(method: object) -> bool:
    """Whether all that it returns are pairs: too few for a step with its observation."""
    code = getattr(inspect.unwrap(method), "__code__", None) if callable(method) else None
    return isinstance(code, CodeType) and _returned(code) == {2}


def _changes(name: str, written: dict[str, set[str]], sizes: dict[str, set[int]], changed: frozenset[str]) -> bool:
    # What fills an array that it then returns is one that is looked at: many keep one for that.
    elements = "[]" in written[name] and not sizes[name] - {-1}
    return elements or bool((written[name] & changed) - {"[]"})


def _codes(cls: type, own: Callable[[str], bool]) -> tuple[dict[str, CodeType], set[str]]:
    found, getters = {}, set()
    for name in {name for base in cls.__mro__ for name in vars(base)}:
        if name.startswith("__") and name != "__init__":
            continue
        method = lying_in(cls, name)
        if isinstance(method, property) and isinstance(method.fget, FunctionType):
            if own(method.fget.__code__.co_filename):
                getters.add(name)
        elif isinstance(method, FunctionType):
            code = getattr(inspect.unwrap(method), "__code__", None)
            if isinstance(code, CodeType) and own(code.co_filename) and not code.co_flags & _LAZY and code.co_argcount:
                found[name] = code
    return found, getters


def _takes(cls: type, name: str, code: CodeType) -> bool:
    defaults = len(inspect.unwrap(lying_in(cls, name)).__defaults__ or ())
    return name != "__init__" and code.co_argcount > 1 and code.co_argcount - 1 - defaults <= _REQUIRED


def _returned(code: CodeType) -> set[int]:
    """Of each return: the length of the tuple that is built there, 0 of anything else, -1 of None."""
    found: set[int] = set()
    before: dis.Instruction | None = None
    for each in dis.get_instructions(code):
        if each.opname == "RETURN_CONST":
            found.add(_size(each.argval))
        elif each.opname == "RETURN_VALUE" and before is not None:
            if before.opname == "LOAD_CONST":
                found.add(_size(before.argval))
            else:
                found.add(int(before.arg or 0) if before.opname == "BUILD_TUPLE" else 0)
        before = each
    return found


def _size(constant: object) -> int:
    return -1 if constant is None else len(constant) if isinstance(constant, tuple) else 0


def _written(codes: dict[str, CodeType], name: str, deep: int = _DEEP) -> set[str]:
    """Attributes that a method sets, and those that it calls; "[]" where elements of something are."""
    code = codes[name]
    found = set()
    for each in dis.get_instructions(code):
        if each.opname == "STORE_ATTR":
            found.add(str(each.argval))
        elif each.opname in ("STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE"):
            found.add("[]")
    if deep:
        for inner in set(code.co_names) & codes.keys() - {name}:
            found |= _written(codes, inner, deep - 1)
    return found
