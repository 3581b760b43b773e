"""Where a value comes from: backwards through names, attributes, containers, and the functions of the same file."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from rldebug.evidence.source import Source
from rldebug.syntax.bindings import (
    Binding,
    attributes,
    bound_in,
    called,
    calls_of,
    class_of_method,
    classes,
    given_for,
    reaching,
)
from rldebug.syntax.names import dotted, library, method, receiver
from rldebug.syntax.places import Function, class_of, function_of, own_nodes, scope_of, without_graph

_CUTS = frozenset({"detach", "detach_", "item", "numpy", "tolist", "argmax", "argmin", "argsort", "multinomial"})
_NEW = frozenset({"torch.tensor", "torch.from_numpy", "torch.FloatTensor", "torch.Tensor", "torch.LongTensor"})
_NUMBERS = ("float", "int", "bool", "len", "round", "range")
_NO_DERIVATIVE = frozenset({"torch.argmax", "torch.argmin", "torch.argsort", "torch.randint", "torch.multinomial"})
_SELF = ("to", "cuda", "cpu", "float", "double", "eval", "train", "requires_grad_", "share_memory")  # give themselves
_DEEPEST = 400  # expressions of one backward walk
PUTS = ("append", "appendleft", "add", "push", "insert", "extend", "put")
"""Methods of lists, deques, sets and queues that put something in."""


@lru_cache(maxsize=1 << 16)
def held(source: Source, expression: ast.expr) -> Sequence[tuple[ast.expr, Binding | None]]:
    """What an expression may stand for, one step back: a name for what it was bound to, a call for what the function of
    this file returns, a parameter for what its calls hand over."""
    return tuple(_stands_for(source, expression))


def _stands_for(source: Source, expression: ast.expr) -> Iterator[tuple[ast.expr, Binding | None]]:
    if isinstance(expression, ast.Name | ast.Attribute):
        for binding in reaching(source, expression) or of_object(source, expression):
            if isinstance(binding.node, ast.arg):
                yield from ((each, None) for each in handed(source, binding.node))
            elif binding.value is not None:
                yield from ((each, binding) for each in unpacked(source, binding))
    elif isinstance(expression, ast.Call):
        function = called(source, expression)
        for maker in makers_called(source, expression.func) if function is None else (function,):
            values = (maker.body,) if isinstance(maker, ast.Lambda) else returned(maker)
            yield from ((each, None) for each in values)
    elif isinstance(expression, ast.IfExp):
        yield from ((each, None) for each in (expression.body, expression.orelse))
    elif isinstance(expression, ast.NamedExpr):
        yield expression.value, None


def unpacked(source: Source, binding: Binding) -> Iterator[ast.expr]:
    """The part of what was bound that a name stands for, where it can be told; else all of it."""
    assert binding.value is not None
    if binding.how == "looped":
        told = looped(source, binding)
        yield from told if told is not None else [_of_loop(binding.value, binding.path)[0]]
        return
    if not binding.path or binding.how != "assigned":
        yield binding.value
        return
    call = binding.value if isinstance(binding.value, ast.Call) else None
    function = None if call is None else called(source, call)
    parts = [] if function is None else [_part(each, binding.path) for each in returned(function)]
    if parts and all(each is not None for each in parts):
        yield from (each for each in parts if each is not None)
    else:
        yield binding.value


def of_object(source: Source, expression: ast.expr) -> Sequence[Binding]:
    """Where an attribute of an object of a class of this file is bound: `agent.critic`, by the methods of the class."""
    owner = object_class(source, expression.value) if isinstance(expression, ast.Attribute) else None
    if owner is None or not isinstance(expression, ast.Attribute):
        return ()
    return attributes(source, owner).get(f"self.{expression.attr}", ())


def object_class(source: Source, expression: ast.expr, depth: int = 4) -> ast.ClassDef | None:
    """The class of this file that an object was made from, where it is one."""
    made = meant(source, expression)
    while isinstance(made, ast.Call) and (method(made) in _SELF or library(source, made) == "copy.deepcopy"):
        given = receiver(made) if method(made) in _SELF else made.args[0] if made.args else None
        if given is None:
            return None
        made = meant(source, given)
    if isinstance(made, ast.Attribute) and depth > 0 and not reaching(source, made):
        parts = [each.whole for each in of_object(source, made)]
        return object_class(source, parts[0], depth - 1) if len(parts) == 1 and parts[0] is not None else None
    return classes(source).get(dotted(made.func)) if isinstance(made, ast.Call) else None


def answer_parts(source: Source, name: ast.expr) -> Iterator[ast.expr]:
    """What forward() returns for a name that got one part of a network's answer: `a, score = net(x)`. Its parameters
    stand for what any call gives, so that nothing may be read from them."""
    for binding in reaching(source, name):
        call = binding.value if binding.how == "assigned" and binding.path else None
        owner = object_class(source, call.func) if isinstance(call, ast.Call) else None
        for each in owner.body if owner is not None else ():
            if isinstance(each, Function) and each.name == "forward":
                parts = [_part(value, binding.path) for value in returned(each)]
                yield from (part for part in parts if part is not None)


def makers_called(source: Source, function: ast.expr, depth: int = 4) -> Sequence[Function | ast.Lambda]:
    """The functions inside of functions and the lambdas that a call may run: `thunk` of `make(seed)()`, what was handed
    over for `env_fn` of `env_fn()`."""
    if isinstance(function, ast.Lambda):
        return (function,)
    if depth <= 0 or not isinstance(function, ast.Name | ast.Call):
        return ()
    if isinstance(function, ast.Name):
        defined = [each.node for each in reaching(source, function) if each.how == "defined"]
        if found := [each for each in defined if isinstance(each, Function)]:
            return found
    return [one for each, _ in held(source, function) for one in makers_called(source, each, depth - 1)]


def given_back(source: Source, call: ast.Call) -> ast.expr | None:
    """What a call hands to a function of this file that returns just that: `layer` of `initialised(layer, gain)`."""
    function = called(source, call)
    values = returned(function) if function is not None else ()
    if function is None or len(values) != 1 or not isinstance(values[0], ast.Name):
        return None
    bindings = reaching(source, values[0])
    plain = len(bindings) == 1 and isinstance(bindings[0].node, ast.arg)
    return given_for(function, values[0].id, call) if plain else None


def looped(source: Source, binding: Binding) -> Sequence[ast.expr] | None:
    """What a variable of a loop stands for in its rounds: `s, t` for v in `for k, v in (("s", s), ("t", t))`; None
    where the text does not list them."""
    if binding.value is None or binding.how != "looped":
        return None
    over, path = _of_loop(binding.value, binding.path)
    rows = elements(source, over)
    if rows is None:
        return None
    if path and method(over) == "items":
        path = path[1:] if path[0] == 1 else (-1,)
    parts = [_part(each, path) for each in rows]
    return [each for each in parts if each is not None] if all(each is not None for each in parts) else None


def elements(source: Source, container: ast.expr, depth: int = 4) -> Sequence[ast.expr] | None:
    """The elements that the text lists for a container: of a literal, of a comprehension, the values of a dict."""
    node = meant(source, container)
    if depth <= 0:
        return None
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        # An empty one is filled elsewhere.
        return None if not node.elts or any(isinstance(each, ast.Starred) for each in node.elts) else node.elts
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
        return [node.elt]
    if isinstance(node, ast.Call) and dotted(node.func) in ("list", "tuple", "reversed") and len(node.args) == 1:
        return elements(source, node.args[0], depth - 1)
    inner = receiver(node)
    if inner is not None and method(node) in ("values", "items"):
        held_in = meant(source, inner)
        if isinstance(held_in, ast.DictComp):
            return [held_in.value]
        if isinstance(held_in, ast.Dict) and held_in.values and None not in held_in.keys:
            return held_in.values
    return None


def _of_loop(value: ast.expr, path: tuple[int, ...]) -> tuple[ast.expr, tuple[int, ...]]:
    """What a variable of a loop runs over: `y` for b in `for i, (a, b) in enumerate(zip(x, y))`; and which part of what
    stands in that it is."""
    for depth, place in enumerate(path):
        given = value.args if isinstance(value, ast.Call) else []
        name = dotted(value.func) if isinstance(value, ast.Call) else ""
        if name == "enumerate" and place == 1 and given:
            value = given[0]
        elif name == "zip" and 0 <= place < len(given) and not any(isinstance(each, ast.Starred) for each in given):
            value = given[place]
        else:
            return value, path[depth:]
    return value, ()


def meant(source: Source, expression: ast.expr) -> ast.expr:
    """What a name stands for, as far back as it can be only one thing; the expression itself where it is no name."""
    for _ in range(_DEEPEST):
        if not isinstance(expression, ast.Name | ast.Attribute):
            break
        bindings = reaching(source, expression)
        if len(bindings) != 1 or bindings[0].whole is None:
            break
        expression = bindings[0].whole
    return expression


def _part(value: ast.expr, path: tuple[int, ...]) -> ast.expr | None:
    for place in path:
        if not isinstance(value, ast.Tuple | ast.List) or not 0 <= place < len(value.elts):
            return None
        value = value.elts[place]
    return value


@lru_cache(maxsize=4096)
def returned(function: Function) -> Sequence[ast.expr]:
    return [each.value for each in own_nodes(function) if isinstance(each, ast.Return) and each.value is not None]


def handed(source: Source, parameter: ast.arg) -> Iterator[ast.expr]:
    """What the calls in this file hand over for a parameter."""
    function = scope_of(source, parameter)
    if isinstance(function, Function):
        for call in _runs(source, function):
            value = given_for(function, parameter.arg, call)
            if value is not None:
                yield value


def _runs(source: Source, function: Function) -> Sequence[ast.Call]:
    """Calls of a function; for `__init__` those of the class."""
    owner = class_of_method(source, function)
    if owner is not None and function.name == "__init__":
        return _made(source).get(owner.name, ())
    return calls_of(source, function)


@lru_cache(maxsize=512)
def _made(source: Source) -> dict[str, list[ast.Call]]:
    """Name of a class -> where objects of it are made."""
    found: dict[str, list[ast.Call]] = {}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found.setdefault(node.func.id, []).append(node)
    return found


def put_in(source: Source, container: ast.expr) -> Iterator[ast.expr]:
    """What is put into a list, a deque or an array that has a name: by append() and the like, by `x[i] = …`."""
    name = dotted(container)
    if not name:
        return
    around: ast.AST = scope_of(source, container)
    if name.startswith("self.") and (owner := class_of(source, container)) is not None:
        around = owner
    values = _put_into(around).get(name, ())
    if not values or _remade(source, container, name):
        return
    for filled, each in values:
        inner = function_of(source, each)
        # A function inside may have a list of its own with this name.
        mine = inner is None or inner is around or "." in name or name not in bound_in(source, inner)
        if mine and _one_list(source, container, filled):
            yield each


def _one_list(source: Source, container: ast.expr, filled: ast.expr) -> bool:
    """Whether a name may stand for the same thing in two places: it may be bound anew in between."""
    if "." in dotted(container):
        return True
    there, here = ({each.node for each in reaching(source, use)} for use in (filled, container))
    return not there or not here or bool(there & here)


def _remade(source: Source, container: ast.expr, name: str) -> bool:
    """Whether a name stands for what was made of the list that had it before: `x = torch.stack(x).detach()`."""
    bindings = reaching(source, container)
    return bool(bindings) and all(
        each.whole is not None and any(dotted(node) == name for node in ast.walk(each.whole)) for each in bindings
    )


@lru_cache(maxsize=4096)
def _put_into(around: ast.AST) -> dict[str, list[tuple[ast.expr, ast.expr]]]:
    """Name of a container -> what is put into it in a function or class, each with the container as it stands there."""
    found: dict[str, list[tuple[ast.expr, ast.expr]]] = {}
    for node in ast.walk(around):
        filled = receiver(node)
        if isinstance(node, ast.Call) and filled is not None and method(node) in PUTS and (name := dotted(filled)):
            given = [each.value if isinstance(each, ast.Starred) else each for each in node.args]
            found.setdefault(name, []).extend((filled, each) for each in given)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Subscript) and (name := dotted(target.value)):
                    found.setdefault(name, []).append((target.value, node.value))
    return found


def computed_from(
    source: Source, expression: ast.expr, *, graph: bool = False, until: Callable[[ast.expr], bool] | None = None
) -> list[ast.expr]:
    """Every expression that a value is computed from, itself first.

    With `graph`, only what gradients can flow to: not beyond detach(), numpy, argmax, torch.tensor(), nor into no_grad.
    The walk does not go beyond expressions that `until` is true for.
    """
    found: list[ast.expr] = []
    ahead: list[ast.expr] = [expression]
    seen: set[ast.expr] = set()
    while ahead and len(found) < _DEEPEST:
        each = ahead.pop(0)
        if each in seen:
            continue
        seen.add(each)
        if graph and (cuts(source, each) or without_graph(source, each)):
            continue
        found.append(each)
        if until is not None and until(each):
            continue
        # What was bound where gradients are off has none, though the function that made it stands elsewhere.
        ahead.extend(
            value
            for value, binding in held(source, each)
            if not (graph and binding is not None and without_graph(source, binding.node))
        )
        ahead.extend(put_in(source, each))
        # Of a function of this file, gradients flow to what it returns; to what it is given, where that reaches it.
        if not (graph and isinstance(each, ast.Call) and (known := called(source, each)) and returned(known)):
            ahead.extend(_parts(each))
    return found


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.Lambda):
        return
    if isinstance(node, ast.Attribute):
        if not dotted(node):
            yield node.value
        return
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):
            yield node.func.value
        yield from node.args
        yield from (each.value for each in node.keywords)
        return
    if isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
        return
    if isinstance(node, ast.Subscript):
        yield node.value
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield child
        elif isinstance(child, ast.comprehension):
            yield child.iter


def cuts(source: Source, node: ast.expr) -> bool:
    """Whether gradients end at an expression."""
    if isinstance(node, ast.Attribute):
        return node.attr == "data"
    if isinstance(node, ast.Call):
        name = library(source, node)
        return (
            (not name and method(node) in _CUTS)
            or dotted(node.func) in _NUMBERS
            or (name in _NEW and not made_to_learn(node))
            or name in _NO_DERIVATIVE
            or name.startswith(("numpy.", "random."))
            or (method(node) == "sample" and not node.args and called(source, node) is None)  # of a distribution
        )
    return isinstance(node, ast.Compare | ast.Constant)


def made_to_learn(call: ast.Call) -> bool:
    """torch.tensor(…, requires_grad=True): a graph begins there."""
    return any(
        each.arg == "requires_grad" and isinstance(each.value, ast.Constant) and each.value.value is True
        for each in call.keywords
    )


def within(outer: ast.AST, inner: ast.AST) -> bool:
    return any(each is inner for each in ast.walk(outer))


def same(one: ast.AST | None, other: ast.AST | None) -> bool:
    """Whether two expressions are written alike."""
    return one is not None and other is not None and ast.dump(one) == ast.dump(other)
