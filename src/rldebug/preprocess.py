"""rldebug.preprocess: a function that prepares observations, with what goes in and what comes out kept now and then.

    @rldebug.preprocess
    def to_network(frame): ...

    @rldebug.preprocess(every=100)
    def observation(self, obs): ...          # of a wrapper

It returns what the function returns. While a run is watched, by `rldebug run` or `rldebug.watch`, some calls are kept
in the run folder, and shown beside each other. Without one it does nothing, and costs less than a microsecond.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, overload

Function = TypeVar("Function", bound=Callable[..., Any])

_galleries: list[Any] = []  # of the runs that are being watched; the newest counts


@overload
def preprocess(function: Function, /) -> Function: ...


@overload
def preprocess(*, every: int | None = None) -> Callable[[Function], Function]: ...


def preprocess(function: Any = None, /, *, every: int | None = None) -> Any:
    """Keep the argument and the result of every Nth call: of every 1000th, or as `rldebug run --frames N` says."""
    if every is not None and (not isinstance(every, int) or isinstance(every, bool) or every < 1):
        raise ValueError(f"rldebug.preprocess(every=...) got {every!r}, expected a whole number from 1 on")
    if function is None:
        return functools.partial(_decorated, every=every)
    return _decorated(function, every=every)


def _decorated(function: Any, *, every: int | None) -> Any:
    # What has a function within it stays what it is.
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(_decorated(function.__func__, every=every))
    if not callable(function) or isinstance(function, type):
        raise TypeError(f"rldebug.preprocess decorates a function from array to array, not {function!r}")
    if any(is_kind(function) for is_kind in _NOT_AT_ONCE):
        name = getattr(function, "__qualname__", repr(function))
        raise TypeError(
            f"rldebug.preprocess decorates a function that returns its array; {name} is a coroutine or a generator"
        )
    name = getattr(function, "__qualname__", type(function).__qualname__).replace("<locals>.", "")
    calls, counted_for = 0, None

    @functools.wraps(function)
    def inner(*args: Any, **kwargs: Any) -> Any:
        if not _galleries:
            return function(*args, **kwargs)
        nonlocal calls, counted_for
        gallery = _galleries[-1]
        calls = calls + 1 if gallery is counted_for else 1
        counted_for = gallery
        if not gallery.due(calls, every):
            return function(*args, **kwargs)
        given = _copied(args, kwargs)  # before the call: it may change it in place
        result = function(*args, **kwargs)
        if given is not None:
            gallery.keep("preprocess", name, given, _first_array((result,)))
        return result

    return inner


_NOT_AT_ONCE = (
    inspect.iscoroutinefunction,
    inspect.isgeneratorfunction,
    inspect.isasyncgenfunction,
)


def keep_in(gallery: Any) -> None:
    """From now on what is decorated is kept there."""
    _galleries.append(gallery)


def keep_no_more(gallery: Any) -> None:
    if gallery in _galleries:
        _galleries.remove(gallery)


def _copied(args: Any, kwargs: Any) -> Any:
    """The first argument that is an array or tensor: `self` is none."""
    try:
        found = _first_array((*args, *kwargs.values()))
        if found is None:
            return None
        return found.detach().clone() if hasattr(found, "detach") else found.copy()
    except Exception:
        return None


def _first_array(values: Any, deep: int = 2) -> Any:
    for each in values:
        if hasattr(type(each), "shape") and hasattr(type(each), "dtype"):  # of its type: a wrapper may answer anything
            return each
        if deep and isinstance(each, (dict, list, tuple)):
            found = _first_array(each.values() if isinstance(each, dict) else each, deep - 1)
            if found is not None:
                return found
    return None
