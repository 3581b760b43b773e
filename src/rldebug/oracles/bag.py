"""A bag stands in for `self`, `batch`, `args`: an argument whose attributes and items are what is really asked for."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rldebug.oracles.names import BAGS, plain


class Missing(Exception):
    """The function asked a bag for something nobody knows."""


class Asked(BaseException):
    """The function asked for a name that is not bound yet: the caller binds it and tries again."""

    def __init__(self, name: str) -> None:
        self.name = name


class Bag:
    """Attributes and items by name. `look` gives the value, or raises Asked; what is set is kept in `_set`."""

    def __init__(self, name: str, look: Callable[[str], Any], unpacked: tuple[str, ...] = ()) -> None:
        object.__setattr__(self, "_name", name)
        object.__setattr__(self, "_look", look)
        object.__setattr__(self, "_unpacked", unpacked)
        object.__setattr__(self, "_set", {})
        object.__setattr__(self, "_given", {})

    def _get(self, key: str) -> Any:
        for held in (self._set, self._given):
            if key in held:
                return held[key]
        path = f"{self._name}.{key}"
        try:
            found = self._look(path)
        except Asked:
            if plain(key) not in BAGS:
                raise
            found = Bag(path, self._look)  # self.config.gamma
        self._given[key] = found  # the same object each time: what is written into it stays
        return found

    def __getattr__(self, key: str) -> Any:
        if key.startswith("__") and key.endswith("__"):
            raise AttributeError(key)
        return self._get(key)

    def __setattr__(self, key: str, value: Any) -> None:
        self._set[key] = value

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, int) and key < len(self._unpacked):
            return self._get(self._unpacked[key])
        if not isinstance(key, str):
            raise TypeError(f"{self._name}[{key!r}]: expected a name")
        return self._get(key)

    def __setitem__(self, key: str, value: Any) -> None:
        self._set[str(key)] = value

    def get(self, key: str, default: Any = None) -> Any:
        return self._get(key)

    def __iter__(self) -> Iterator[Any]:
        if not self._unpacked:
            raise TypeError(f"{self._name} cannot be unpacked: the names it is unpacked into were not found")
        return iter([self._unpack(each) for each in self._unpacked])

    def _unpack(self, key: str) -> Any:
        """What is unpacked by the way need not be known: `obs, _, rew, info = batch`."""
        try:
            return self._get(key)
        except Asked:
            return None

    def __len__(self) -> int:
        return len(self._unpacked)

    def __bool__(self) -> bool:
        return True


def written(bag: Bag) -> Mapping[str, Any]:
    """What the function set on it, and what it was given and may have written into."""
    return {**bag._given, **bag._set}


def asked_for(function: Callable[..., Any], name: str) -> list[str]:
    """What its source reads from the argument: `self.rewards`, `batch["done"]`, `self.config.gamma`."""
    found: list[str] = []
    for node in _nodes(function):
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Load):
            path = _path(node)
            if path is not None and path[0] == name:
                *holders, last = path[1:]
                if all(plain(each) in BAGS for each in holders):
                    found.append(".".join((*holders, last)))
    return list(dict.fromkeys(found))


def _path(node: ast.expr) -> tuple[str, ...] | None:
    """`self.config["gamma"]` as its names, from the first on; None where there is anything else in it."""
    if isinstance(node, ast.Name):
        return (node.id,)
    key: Any
    if isinstance(node, ast.Attribute):
        before, key = _path(node.value), node.attr
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        before, key = _path(node.value), node.slice.value
    else:
        return None
    return None if before is None or not isinstance(key, str) else (*before, key)


def kept_by(kind: type) -> list[str]:
    """What the class's __init__ sets on self."""
    return [
        node.attr
        for node in _nodes(vars(kind).get("__init__", kind))
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    ]


def unpacking(function: Callable[..., Any], name: str) -> tuple[str, ...]:
    """The names an argument is unpacked into: `obs, act, rew = batch`. Empty where it is not."""
    for node in _nodes(function):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id == name:
            for target in node.targets:
                if isinstance(target, (ast.Tuple, ast.List)) and all(isinstance(e, ast.Name) for e in target.elts):
                    return tuple(e.id for e in target.elts if isinstance(e, ast.Name))
    return ()


def returned_names(function: Callable[..., Any]) -> list[str]:
    """`return loss, stats`: what a function calls what it gives back."""
    found: list[str] = []
    for node in _nodes(function):
        if isinstance(node, ast.Return) and node.value is not None:
            parts = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            found += [each.id for each in parts if isinstance(each, ast.Name)]
    return list(dict.fromkeys(found))


def _nodes(function: Callable[..., Any]) -> list[ast.AST]:
    try:
        return list(ast.walk(ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))))
    except (OSError, TypeError, SyntaxError):
        return []
