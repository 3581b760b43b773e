"""The statements of environments that are the program's own: an array handed out at every step, lanes made alike."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from rldebug.finding import Finding
from rldebug.forensics import aimed_around, aimed_learning
from rldebug.forensics.program_text import Text, last, last_name, statements
from rldebug.syntax.across import Value, back, returned, run_by
from rldebug.syntax.names import dotted, library, method, receiver
from rldebug.syntax.places import Function, calls, function_of, loops_of, parents
from rldebug.syntax.quantities import stepped, walk

_NEW = frozenset({"zeros", "ones", "empty", "full", "array", "zeros_like", "empty_like"})
_COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)
_MOST = 200


def shared(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """Where an environment hands out an array that it made once, and writes over at the next step."""
    found: dict[ast.stmt, None] = {}
    for owner in _worlds(text):
        for each in _handed_out(text, owner):
            found[walk(text.program, []).statement(each)] = None
    return list(found) if len(found) == 1 else []


def _worlds(text: Text) -> Iterator[ast.ClassDef]:
    """Classes that can be stepped and reset: environments, and what they are wrapped in."""
    for source in text.sources:
        for each in ast.walk(source.tree):
            if isinstance(each, ast.ClassDef):
                names = {one.name for one in each.body if isinstance(one, Function)}
                if {"step", "reset"} <= names or any(last_name(base) == "ObservationWrapper" for base in each.bases):
                    yield each


def _handed_out(text: Text, owner: ast.ClassDef) -> Iterator[ast.expr]:
    made = {each for each in ast.walk(owner) if isinstance(each, Function)}
    seen: set[Value] = set()
    ahead: list[Value] = []
    for each in (one for one in made if one.name in ("step", "reset", "observation")):
        for given in returned(each):
            ahead.append(Value(given.elts[0] if isinstance(given, ast.Tuple) and given.elts else given))
    while ahead and len(seen) < _MOST:
        value = ahead.pop()
        node = value.node
        if value in seen or function_of(text.program.home[node], node) not in made:
            continue
        seen.add(value)
        if isinstance(node, ast.Attribute) and _is_kept(text, owner, node):
            yield node
        elif isinstance(node, ast.Name) or (isinstance(node, ast.Call) and run_by(text.program, node)):
            ahead.extend(back(text.program, value))


def _is_kept(text: Text, owner: ast.ClassDef, node: ast.Attribute) -> bool:
    """Whether an attribute is bound to a new array when the object is made and never again, and is written to later."""
    name, written = dotted(node), False
    for each in ast.walk(owner):
        if isinstance(each, ast.Assign | ast.AugAssign):
            targets = each.targets if isinstance(each, ast.Assign) else [each.target]
            here = function_of(text.program.home[each], each)
            for target in targets:
                if dotted(target) == name and not _is_new(text, here, each.value):
                    return False
                if isinstance(target, ast.Subscript):
                    written |= _names(here, name, target.value)
        elif isinstance(each, ast.Call) and method(each) in ("fill", "fill_", "zero_", "copy_", "put"):
            inner = receiver(each)
            here = function_of(text.program.home[each], each)
            written |= inner is not None and _names(here, name, inner)
    return bool(name) and written


def _is_new(text: Text, here: Function | None, value: ast.expr) -> bool:
    made = isinstance(value, ast.Call) and last(value) in _NEW and bool(library(text.program.home[value], value))
    return made and here is not None and here.name == "__init__"


def _names(here: Function | None, name: str, node: ast.expr) -> bool:
    """Whether a node is the attribute, or a name that the function binds to it."""
    if dotted(node) == name:
        return True
    if here is None or not isinstance(node, ast.Name):
        return False
    bound = (each for each in ast.walk(here) if isinstance(each, ast.Assign) and dotted(each.value) == name)
    return any(dotted(target) == node.id for each in bound for target in each.targets)


def again(text: Text, finding: Finding) -> Sequence[ast.AST]:
    return shared(text, finding) or aimed_learning.asked_again(text, finding)


def restarted(text: Text, finding: Finding) -> Sequence[ast.AST]:
    return shared(text, finding) or aimed_around.restarted(text, finding)


def seeded(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """Where lanes are given their seeds: by reset(), or when they are made one by one."""
    found = aimed_around.seeded(text, finding)
    if found:
        return found
    names = {each.name for each in aimed_around.classes(text)}
    known = [each for source in text.sources for each in calls(source) if last(each) in names]
    made = [each for each in known if _is_repeated(text, each)]
    played = {text.learned.scope(each) for each in stepped(text.learned)}
    mine = [each for each in made if text.learned.scope(each) in played]
    return statements(text.learned, mine or made)


def _is_repeated(text: Text, call: ast.Call) -> bool:
    source = text.program.home[call]
    around: ast.AST | None = call
    while around is not None and not isinstance(around, ast.stmt):
        if isinstance(around, _COMPREHENSIONS):
            return True
        around = parents(source).get(around)
    return bool(loops_of(source, call))
