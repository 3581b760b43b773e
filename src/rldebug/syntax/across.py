"""Where a value comes from, across all files of a program: wider than flow.py, and less sure. Objects are told apart by
the name of the attribute, dicts by the key, rows of a memory by their length and the place in them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from rldebug.evidence.source import Source
from rldebug.syntax.bindings import Binding, bound_in, class_of_method, first_parameter, given_for, reaching
from rldebug.syntax.flow import PUTS
from rldebug.syntax.names import constant, dotted, method, receiver
from rldebug.syntax.places import Function, class_of, function_of, own_nodes, scope_of
from rldebug.syntax.stepping import steps

Path = tuple[tuple[int, int], ...]
"""Places in what is unpacked, each with how many there are; 0 where that is not known."""

_WRITES = (*PUTS, "copy_", "store", "remember", "update")
_MEANT = 4  # functions that a call may run: where more have the name, none is followed
_WRAPPERS = ("list", "tuple", "iter", "sorted", "reversed")
_LIKE = ("zeros_like", "ones_like", "empty_like", "rand_like", "randn_like", "new_zeros", "new_ones", "new_empty")
_SIZES = (*_LIKE, "len", "range", "size", "numel", "dim")  # give no number of what they are given
_ABOUT = ("shape", "device", "dtype", "ndim", "is_cuda", "requires_grad")


@dataclass(frozen=True)
class Value:
    """An expression, or a part of what it gives."""

    node: ast.expr
    path: Path = ()


@dataclass(frozen=True, eq=False)
class Program:
    """The files of a program, and what is looked up in all of them at once."""

    sources: tuple[Source, ...]
    home: dict[ast.AST, Source] = field(default_factory=dict)
    functions: dict[str, list[Function]] = field(default_factory=dict)
    calls: dict[str, list[ast.Call]] = field(default_factory=dict)
    fields: dict[str, list[str]] = field(default_factory=dict)  # of a class of records: their names, in order
    filled: dict[tuple[object, ...], list[Value]] = field(default_factory=dict)  # what is put into a container
    rows: dict[tuple[int, int], list[Value]] = field(default_factory=dict)  # length, place -> what stands there
    handed: dict[str, list[tuple[ast.Name, ast.Call]]] = field(default_factory=dict)  # names that calls are given
    run: dict[ast.Call, list[Function]] = field(default_factory=dict)  # what calls run, as far as anyone asked
    steps: dict[ast.expr, int] = field(default_factory=dict)  # calls of an environment's step(): how many parts


def program_of(sources: Iterable[Source]) -> Program:
    program = Program(tuple(sources))
    for source in program.sources:
        program.steps.update({each.call: len(each.parts) for each in steps(source)})
        for node in ast.walk(source.tree):
            program.home[node] = source
            if isinstance(node, Function):
                program.functions.setdefault(node.name, []).append(node)
            elif isinstance(node, ast.Call):
                program.calls.setdefault(_last(node.func), []).append(node)
                for each in (*node.args, *(word.value for word in node.keywords)):
                    if isinstance(each, ast.Name):
                        program.handed.setdefault(each.id, []).append((each, node))
            elif isinstance(node, ast.ClassDef):
                program.fields.setdefault(node.name, _annotated(node))
            elif isinstance(node, ast.Assign) and _is_record(node.value):
                program.fields[_last(node.targets[0])] = _listed(node.value)
    for source in program.sources:
        for node in ast.walk(source.tree):
            for container, value in _writes(node):
                for key in _keys(source, container):
                    program.filled.setdefault(key, []).append(value)
                _row(program, value)
            if isinstance(node, ast.Call) and (names := program.fields.get(_last(node.func))):
                for name, value in _given(node, names):
                    program.filled.setdefault(("attribute", name), []).append(value)
                    program.rows.setdefault((len(names), names.index(name)), []).append(value)
    return program


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _annotated(node: ast.ClassDef) -> list[str]:
    return [_last(each.target) for each in node.body if isinstance(each, ast.AnnAssign)]


def _is_record(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and _last(node.func) == "namedtuple"


def _listed(call: ast.expr) -> list[str]:
    """The names in `namedtuple("Row", "obs action")`."""
    assert isinstance(call, ast.Call)
    given = call.args[1] if len(call.args) > 1 else None
    if isinstance(given, ast.List | ast.Tuple):
        return [str(constant(each)) for each in given.elts]
    return str(constant(given) or "").replace(",", " ").split()


def _given(call: ast.Call, names: Sequence[str]) -> Iterator[tuple[str, Value]]:
    """What a call that makes a record gives for each of its fields."""
    for place, each in enumerate(call.args):
        if isinstance(each, ast.Starred):
            for later in range(place, len(names)):
                yield names[later], Value(each.value, ((later - place, len(names) - place),))
            break
        if place < len(names):
            yield names[place], Value(each)
    for word in call.keywords:
        if word.arg in names:
            yield str(word.arg), Value(word.value)


def _writes(node: ast.AST) -> Iterator[tuple[ast.expr, Value]]:
    """What a node puts into containers and attributes: the container, and what is put in."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _unpacked(target, Value(node.value))
    elif isinstance(node, ast.AugAssign | ast.AnnAssign) and node.value is not None:
        yield from _unpacked(node.target, Value(node.value))
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant):
                yield ast.Subscript(node, key, ast.Load()), Value(value)
    elif isinstance(node, ast.Call):
        container = receiver(node)
        if container is not None and method(node) in _WRITES:
            for each in node.args:
                yield container, Value(each.value if isinstance(each, ast.Starred) else each)
            for word in node.keywords:
                if word.arg:  # memory.add(obs=obs), of a library
                    yield ast.Subscript(node, ast.Constant(word.arg), ast.Load()), Value(word.value)
        if dotted(node.func) == "dict":
            for word in node.keywords:
                if word.arg:
                    yield ast.Subscript(node, ast.Constant(word.arg), ast.Load()), Value(word.value)


def _unpacked(target: ast.expr, value: Value) -> Iterator[tuple[ast.expr, Value]]:
    if isinstance(target, ast.Tuple | ast.List):
        known = value.node.elts if isinstance(value.node, ast.Tuple | ast.List) and not value.path else ()
        for place, each in enumerate(target.elts):
            if len(known) == len(target.elts):
                yield from _unpacked(each, Value(known[place]))
            else:
                yield from _unpacked(each, Value(value.node, (*value.path, (place, len(target.elts)))))
    elif isinstance(target, ast.Subscript | ast.Attribute):
        yield target, value


def _keys(source: Source, container: ast.expr) -> Iterator[tuple[object, ...]]:
    """What a container is looked up by: the key of a dict, the attribute, the name with the function that binds it."""
    while isinstance(container, ast.Subscript):
        word = constant(container.slice)
        if isinstance(word, str):
            yield "key", word
            return
        container = container.value
    if isinstance(container, ast.Attribute):
        yield "attribute", container.attr
    elif isinstance(container, ast.Name):
        yield "name", _binder(source, container), container.id


def _binder(source: Source, name: ast.Name) -> ast.AST:
    """The function, or the file, in which a name is bound."""
    scope: ast.AST = scope_of(source, name)
    while isinstance(scope, Function) and name.id not in bound_in(source, scope):
        scope = function_of(source, scope) or source.tree
    return scope


def _row(program: Program, value: Value) -> None:
    if isinstance(value.node, ast.Tuple) and not value.path:
        for place, each in enumerate(value.node.elts):
            program.rows.setdefault((len(value.node.elts), place), []).append(Value(each))


def back(program: Program, value: Value) -> list[Value]:
    """What a value is made of, one step back; nothing for what an environment gives."""
    source = program.home.get(value.node)
    if source is None or value.node in program.steps:
        return []
    found = list(_back(program, source, value.node, value.path))
    return found or list(program.rows.get(value.path[0][::-1], ()) if value.path else ())


def _back(program: Program, source: Source, node: ast.expr, path: Path) -> Iterator[Value]:
    if isinstance(node, ast.Name | ast.Attribute):
        yield from _of_name(program, source, node, path)
    elif isinstance(node, ast.Call):
        yield from _of_call(program, source, node, path)
    elif isinstance(node, ast.Tuple | ast.List) and path:
        place = path[0][0]
        yield from (Value(each, path[1:]) for each in node.elts[place : place + 1])
    elif isinstance(node, ast.Subscript):
        yield from _of_part(program, source, node, path)
    elif isinstance(node, ast.GeneratorExp | ast.ListComp | ast.SetComp) and path:
        yield from program.rows.get(path[0][::-1], ())
        yield Value(node.generators[0].iter, path)
    elif isinstance(node, ast.IfExp):
        yield from (Value(each, path) for each in (node.body, node.orelse))
        yield Value(node.test)
    elif isinstance(node, ast.NamedExpr | ast.Starred | ast.Await):
        yield Value(node.value, path)
    elif not isinstance(node, ast.Lambda):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield Value(child)


def _of_part(program: Program, source: Source, node: ast.Subscript, path: Path) -> Iterator[Value]:
    word = constant(node.slice)
    if isinstance(word, str):
        kept = program.filled.get(("key", word), ())
        yield from (Value(each.node, each.path + path) for each in kept)
        if kept:
            return
    if isinstance(word, int) and not isinstance(word, bool) and isinstance(node.value, ast.Name):
        looped = any(each.how == "looped" for each in reaching(source, node.value))
        if looped:
            yield from (one for (size, place), kept in program.rows.items() if place == word < size for one in kept)
        listed = any(program.filled.get(key) for key in _keys(source, node.value))
        yield Value(node.value, path if listed else ((word, 0), *path))
        return
    yield Value(node.value, path)


def _of_name(program: Program, source: Source, node: ast.Name | ast.Attribute, path: Path) -> Iterator[Value]:
    if isinstance(node, ast.Attribute) and node.attr in _ABOUT:
        return
    bindings = reaching(source, node)
    for each in bindings:
        yield from _bound(program, source, each, path)
    if not bindings and isinstance(node, ast.Name):
        yield from _of_module(program, node.id, path)
    remade = bindings and all(each.whole is not None and _mentions(each.whole, dotted(node)) for each in bindings)
    if not remade:
        for key in _keys(source, node):
            yield from (Value(each.node, each.path + path) for each in program.filled.get(key, ()))
        yield from _filled_elsewhere(program, source, node, path)
    known = isinstance(node, ast.Attribute) and dotted(node) and program.filled.get(("attribute", node.attr))
    if isinstance(node, ast.Attribute) and not known and not _is_self(source, node.value):
        yield Value(node.value)


def _bound(program: Program, source: Source, binding: Binding, path: Path) -> Iterator[Value]:
    if isinstance(binding.node, ast.arg):
        yield from _handed(program, source, binding.node, path)
    elif binding.how == "imported":
        yield from _of_module(program, binding.name, path)
    elif binding.value is not None:
        width = _width(binding)
        inner = tuple((place, width if not depth else 0) for depth, place in enumerate(binding.path) if place >= 0)
        yield Value(binding.value, inner + path)


def _width(binding: Binding) -> int:
    """How many things are unpacked together."""
    node = binding.node
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    for each in targets:
        if isinstance(each, ast.Tuple | ast.List):
            return len(each.elts)
    return 0


def _mentions(value: ast.expr, name: str) -> bool:
    return any(dotted(each) == name for each in ast.walk(value))


def _is_self(source: Source, node: ast.expr) -> bool:
    function = function_of(source, node)
    return function is not None and dotted(node) == first_parameter(function) and class_of(source, node) is not None


def _of_module(program: Program, name: str, path: Path) -> Iterator[Value]:
    """What a name is bound to at the top of another file."""
    for source in program.sources:
        for each in bound_in(source, source.tree).get(name, ()):
            if each.whole is not None:
                yield Value(each.whole, path)


def _filled_elsewhere(program: Program, source: Source, node: ast.Name | ast.Attribute, path: Path) -> Iterator[Value]:
    """What functions put into a container that they are handed under another name."""
    if not isinstance(node, ast.Name):
        return
    for use, call in program.handed.get(node.id, ()):
        if program.home[use] is source and _binder(source, use) is _binder(source, node):
            for function in run_by(program, call):
                for parameter in [*function.args.posonlyargs, *function.args.args]:
                    if given_for(function, parameter.arg, call) is use:
                        kept = program.filled.get(("name", function, parameter.arg), ())
                        yield from (Value(each.node, each.path + path) for each in kept)


def run_by(program: Program, call: ast.Call) -> list[Function]:
    """The functions of the program that a call may run."""
    if call not in program.run:
        known = program.functions.get(_last(call.func), [])
        if isinstance(call.func, ast.Name):
            known = [each for each in known if class_of_method(program.home[each], each) is None]
        known = known or list(_called_objects(program, call))
        program.run[call] = known if len(known) <= _MEANT else []
    return program.run[call]


def _called_objects(program: Program, call: ast.Call) -> Iterator[Function]:
    """`__call__` of what the program made: a normaliser, a schedule. Networks have a forward() instead."""
    source = program.home.get(call)
    if source is None or not program.functions.get("__call__"):
        return
    bindings = reaching(source, call.func) if isinstance(call.func, ast.Name | ast.Attribute) else ()
    values = [each.whole for each in bindings if each.whole is not None]
    if isinstance(call.func, ast.Attribute):
        values += [each.node for each in program.filled.get(("attribute", call.func.attr), ()) if not each.path]
    made = {_last(each.func) for each in values if isinstance(each, ast.Call)}
    for function in program.functions["__call__"]:
        owner = class_of_method(program.home[function], function)
        if owner is not None and owner.name in made:
            yield function


def _of_call(program: Program, source: Source, call: ast.Call, path: Path) -> Iterator[Value]:
    name = dotted(call.func)
    if _last(call.func) in _SIZES:
        return
    functions = run_by(program, call)
    for function in functions:
        yield from (Value(each, path) for each in returned(function))
    if functions:
        return
    if path and name == "enumerate" and call.args:
        yield from [Value(call.args[0], path[1:])] if path[0][0] == 1 else []
    elif path and name == "zip" and not any(isinstance(each, ast.Starred) for each in call.args):
        yield from (Value(each, path[1:]) for each in call.args[path[0][0] : path[0][0] + 1])
    elif path and method(call) == "items" and path[0][1] == 2 and (inner := receiver(call)) is not None:
        yield from [Value(inner, path[1:])] if path[0][0] == 1 else []
    elif path and name == "map" and len(call.args) == 2:
        yield Value(call.args[1], path)
    elif path and name in _WRAPPERS and call.args:
        yield Value(call.args[0], path)
    elif path and path[0][1] and program.rows.get(path[0][::-1]):
        yield from program.rows[path[0][::-1]]
    else:
        yield from _operands(call)


def _operands(call: ast.Call) -> Iterator[Value]:
    if isinstance(call.func, ast.Attribute):
        yield Value(call.func.value)
    elif not isinstance(call.func, ast.Name):
        yield Value(call.func)
    yield from (Value(each.value if isinstance(each, ast.Starred) else each) for each in call.args)
    yield from (Value(each.value) for each in call.keywords)


def returned(function: Function) -> list[ast.expr]:
    """What a function returns or yields."""
    return [
        each.value
        for each in own_nodes(function)
        if isinstance(each, ast.Return | ast.Yield | ast.YieldFrom) and each.value is not None
    ]


def _handed(program: Program, source: Source, parameter: ast.arg, path: Path) -> Iterator[Value]:
    """What the calls of the program hand over for a parameter."""
    function = scope_of(source, parameter)
    if not isinstance(function, Function):
        return
    owner = class_of_method(source, function)
    name = owner.name if owner is not None and function.name == "__init__" else function.name
    calls = program.calls.get(name, ()) if name != "__call__" else [each for each in program.run if program.run[each]]
    for call in calls:
        if function.name != "__init__" and function not in run_by(program, call):
            continue
        if function.args.vararg is parameter:
            before = len(function.args.args) - (1 if owner is not None else 0)
            if path:
                place = before + path[0][0]
                yield from (Value(each, path[1:]) for each in call.args[place : place + 1])
            else:
                yield from (Value(each) for each in call.args[before:])
        elif (value := given_for(function, parameter.arg, call)) is not None:
            yield Value(value, path)
        elif (part := _starred(function, parameter, call, bound=owner is not None)) is not None:
            yield Value(part.node, part.path + path)


def _starred(function: Function, parameter: ast.arg, call: ast.Call, *, bound: bool) -> Value | None:
    """What a parameter gets of `store(*row)`: the row has as many parts as there are parameters left."""
    places = [*function.args.posonlyargs, *function.args.args][1 if bound else 0 :]
    start = next((place for place, each in enumerate(call.args) if isinstance(each, ast.Starred)), None)
    if start != len(call.args) - 1 or call.keywords or parameter not in places[start:]:
        return None
    star = call.args[start]
    assert isinstance(star, ast.Starred)
    return Value(star.value, ((places.index(parameter) - start, len(places) - start),))
