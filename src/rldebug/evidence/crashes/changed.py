"""*Modified by an inplace operation*: the tensor, the line that changed it, the loss that needed it as it was."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from rldebug.evidence.crashes.facts import Fact, is_module
from rldebug.evidence.crashes.made import Made, carried, handed_on, is_old, repeat_of
from rldebug.evidence.crashes.named import Named, modules, optimizers, parameter_name, tensors
from rldebug.evidence.crashes.scene import Scene, Step, line_of, steps_before
from rldebug.evidence.crashes.source import (
    Place,
    base,
    bindings,
    called,
    first_argument,
    line_told,
    methods_of,
    node_at,
    place_of_function,
)
from rldebug.evidence.crashes.walk import change_in, changed_in, leaf_through_views, walk
from rldebug.syntax.names import dotted, method
from rldebug.syntax.places import branches_apart, calls_in, own_nodes

_COPIES = frozenset({"copy_", "lerp_", "add_", "mul_", "sub_", "div_", "load_state_dict", "data_", "clamp_", "fill_"})


def changed_facts(scene: Scene) -> Fact:
    facts: Fact = {"fault": "changed", "loss": scene.loss}
    told = change_in(scene.message)
    if told is None:
        return facts
    shape, version, kept = told
    facts |= {"shape": shape, "version": version, "kept": kept}
    if (made := _loss_made(scene)) is not None:
        facts["made"] = made
    facts["retained"] = _retained(scene)
    weight = _weight(scene, shape, version)
    if weight is not None:
        return {**facts, **_weight_facts(scene, weight)}
    return {**facts, **_tensor_facts(scene, shape, version, kept)}


def _loss_made(scene: Scene) -> Fact | None:
    """Where the loss was computed: before the change."""
    if scene.asked is None or not scene.roots:
        return None
    if (known := scene.made(scene.aliases.get(id(scene.roots[0]), []))) is not None:
        return line_of(known[1], scene.roots[0].grad_fn)
    return None


def _retained(scene: Scene) -> bool:
    """Whether the graph of an earlier pass was kept on purpose."""
    for place in scene.stack:
        for call in calls_in(place.scope):
            for each in call.keywords:
                if each.arg == "retain_graph" and isinstance(each.value, ast.Constant) and each.value.value is True:
                    return True
    return False


# ── a weight ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _weight(scene: Scene, shape: list[int], version: int) -> Any:
    """The parameter that it is, by the graph: what the failing node was given, turned round or not."""
    for node, its_shape, its_version, _ in changed_in(walk(scene.roots)):
        if (its_shape, its_version) != (shape, version):
            continue
        for leaf in leaf_through_views(node):
            alike = list(leaf.shape) in (shape, shape[::-1]) or leaf.numel() == _size(shape)
            if alike and leaf._version == version:
                return leaf
    return None


def _size(shape: list[int]) -> int:
    size = 1
    for each in shape:
        size *= each
    return size


def _weight_facts(scene: Scene, weight: Any) -> Fact:
    owner = scene.owners.get(id(weight))
    facts: Fact = {
        "what": "weight",
        "name": parameter_name(owner) if owner else "",
        "network": owner[0] if owner else "",
    }
    held = [
        each
        for each in optimizers(scene.named)
        if any(weight is one for group in each.value.param_groups for one in group["params"])
    ]
    facts["optimizer"] = held[0].path if held else ""
    holders = {id(each.value) for each in held}

    def steps(place: Place, call: ast.Call) -> bool:
        if method(call) == "step" and isinstance(call.func, ast.Attribute):
            value = place.value(call.func.value)
            # scaler.step(optimizer) too.
            return id(value) in holders or any(id(place.value(each)) in holders for each in call.args)
        return False

    found = next(steps_before(scene, steps), None)
    if found is None and not held:
        found = next(steps_before(scene, lambda place, call: _copies(scene, place, call, weight)), None)
    if found is None and held:  # it stands below the failing line: done in the last pass of the loop
        place = scene.stack[0]
        found = next((Step(place, call, 0, call.lineno) for call in calls_in(place.scope) if steps(place, call)), None)
        facts["last_pass"] = found is not None
        facts |= _from_before(scene)
    if found is not None:
        facts["changed"] = line_told(found.place, found.call)
    return facts


def _from_before(scene: Scene) -> Fact:
    """What the loss was computed from that an earlier pass of the loop has made, with the weights of then."""
    repeat = repeat_of(scene.stack)
    within, roots = walk(scene.roots).nodes, {id(each) for each in scene.roots}
    found: list[tuple[int, int, Fact]] = []
    for aliases in scene.aliases.values():
        node = aliases[0].value.grad_fn
        if node is None or id(node) not in within or id(aliases[0].value) in roots:
            continue
        known = scene.made(sorted(aliases, key=lambda each: not each.holder))
        if known is None:
            continue
        alias, made = known
        if handed_on(made, scene.stack, repeat) or _of_last_call(scene, alias, made):
            order, pattern = 1, "handed on"
        elif is_old(made, scene.stack, repeat):
            how = carried(made, scene.stack, repeat)
            order = 0 if how else 2
            pattern = {"call": "recurrent state", "sum": "sum"}.get(how, "kept")
        else:
            continue
        facts: Fact = {"name": alias.kept, "pattern": pattern, **line_of(made, node)}
        found.append((order, -int(node._sequence_nr()), facts))
    return {"stale": min(found, key=lambda each: each[:2])[2]} if found else {}


def _of_last_call(scene: Scene, alias: Named, made: Made) -> bool:
    """`self.value = value` below the failing line: what the loss has of it is of the call before."""
    place = scene.stack[0]
    below = getattr(made.node, "lineno", 0) > (place.line or 1 << 30)
    return alias.owner is not None and made.place.scope is place.scope and below


def _copies(scene: Scene, place: Place, call: ast.Call, weight: Any) -> bool:
    """`p.copy_(…)`, `target.load_state_dict(…)`: a call by which weights are changed by hand."""
    if method(call) not in _COPIES or not isinstance(call.func, ast.Attribute):
        return False
    if method(call) != "load_state_dict":
        return True
    network = place.value(call.func.value)
    return is_module(network) and any(weight is each for each in network.parameters())


# ── any other tensor ────────────────────────────────────────────────────────────────────────────────────────────────


def _tensor_facts(scene: Scene, shape: list[int], version: int, kept: int) -> Fact:
    # A parameter has been looked for already; one that only has the shape has nothing to do with it.
    alike = [each for each in tensors(scene.named) if each.value._version == version and not _trained(each.value)]
    exact = [each for each in alike if list(each.value.shape) == shape]
    storages = {_storage(each.value) for each in exact}
    # A view has its own shape and the counter of what it is a view of.
    views = [each for each in alike if _storage(each.value) in storages and each not in exact]
    found = [(each, *line) for each in (*exact, *views, *_others(alike, exact)) for line in _changes(scene, each)]
    if not found:
        if (inside := list(_by_operation(scene))) and len({id(node) for _, node, _ in inside}) == 1:
            place, node, name = inside[0]
            changed: Fact = {"changed": line_told(place, node), "by": _operation(node)}
            return {"what": "tensor", "name": name, "scope": getattr(place.scope, "name", ""), **changed}
        return {"what": "tensor", "name": exact[0].path if len({id(each.value) for each in exact}) == 1 else ""}
    alias, place, _ = found[0]
    lines = _since([each for one, there, each in found if one is alias and there is place], place, version, kept)
    facts: Fact = {"what": "tensor", "name": alias.kept, "changed": line_told(place, lines[0])}
    facts["by"] = _operation(lines[0])
    if len(lines) > 1:
        facts["then"] = [{**line_told(place, each), "by": _operation(each)} for each in lines[1:4]]
    return facts


def _trained(value: Any) -> bool:
    return bool(value.is_leaf and value.requires_grad)


def _by_operation(scene: Scene) -> Iterator[tuple[Place, ast.AST, str]]:
    """In functions that have returned: the lines that change in place what the operation has made of which PyTorch
    speaks, as `probs *= mask` below `probs = softmax(logits)`."""
    made = _MADE_BY.search(scene.message)
    if made is None:
        return
    operation = made[1].lower()
    for place in _within_reach(scene):
        for node in own_nodes(place.scope):
            for name in _targets_in_place(node):
                if not _changes_in_place(place, node, name):
                    continue
                line: int = getattr(node, "lineno", 0)
                before = [each for each in bindings(place.scope, name) if each.statement.lineno < line]
                before = [each for each in before if each.statement is not node]
                if before and operation in _operations_of(place, before[-1].value):
                    yield place, node, name


_MADE_BY = re.compile(r"which is output \d+ of (?!AsStrided|TB)(?:Unsafe)?([A-Za-z]+?)\d*(?:Backward\d*)?[,\s]")


def _within_reach(scene: Scene) -> Iterator[Place]:
    """The functions at work, the forward() of every network in reach, and what these call."""
    every = [*scene.stack]
    for each in modules(scene.named):
        for layer in each.value.modules():
            if (place := place_of_function(getattr(type(layer), "forward", None), layer)) is not None:
                every.append(place)
    seen: set[int] = set()
    for place in every:
        for one in (place, *(inner for call in calls_in(place.scope) if (inner := called(place, call)) is not None)):
            if id(one.scope) not in seen:
                seen.add(id(one.scope))
                yield one


def _targets_in_place(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.AugAssign):
        yield base(node.target)
    elif isinstance(node, ast.Assign):
        yield from (base(each) for each in node.targets if isinstance(each, ast.Subscript))
    elif isinstance(node, ast.Call):
        operands = [*node.args[:1], *([node.func.value] if isinstance(node.func, ast.Attribute) else [])]
        yield from dict.fromkeys(name for each in operands if (name := base(each)))


_BINARY = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Pow: "pow", ast.MatMult: "mm"}


def _operations_of(place: Place, value: ast.expr) -> set[str]:
    """The names that PyTorch may have for the outermost operation of an expression."""
    if isinstance(value, ast.BinOp):
        return {_BINARY.get(type(value.op), "")}
    if not isinstance(value, ast.Call):
        return set()
    layer: Any = place.value(value.func)
    if is_module(layer):
        while (inside := list(layer.children())) and type(layer).__name__ == "Sequential":
            layer = inside[-1]
        kind = type(layer).__name__.lower()
        return {"addmm", "linear", "view", "mv", "add"} if kind == "linear" else {kind}
    return {method(value).replace("_", "") or dotted(value.func).rpartition(".")[2].replace("_", "").lower()}


def _since(found: list[ast.AST], place: Place, version: int, kept: int) -> list[ast.AST]:
    """Of the lines that change a tensor, the last one first: those since it was needed, in the order of the text."""
    above = [each for each in found if getattr(each, "lineno", 0) <= (place.line or 1 << 30)][::-1]
    if not above or version - kept < 2:
        return found[:1]
    # Each was executed once where there are as many as changes: the first of them came before it was needed.
    return above[kept:] if len(above) == version else above


def _others(alike: list[Named], exact: list[Named]) -> list[Named]:
    return [] if exact else [each for each in alike if each.value._version > 0 and not each.value.is_leaf]


def _storage(value: Any) -> int:
    try:
        return int(value.untyped_storage().data_ptr())
    except Exception:
        return 0


def _changes(scene: Scene, alias: Named) -> Iterator[tuple[Place, ast.AST]]:
    """The lines that change a tensor of this name in place, the last before the failing line first."""
    places: list[tuple[Place, str]] = []
    if (place := scene.places.get(id(alias.frame))) is not None:
        places.append((place, alias.kept.split("[")[0]))
    if alias.owner is not None:
        places += [(each, f"{first_argument(each)}.{alias.attribute}") for each in methods_of(alias.owner)]
    for place, name in places:
        line = place.line or 1 << 30
        here = node_at(place, line)
        found = [each for each in own_nodes(place.scope) if _changes_in_place(place, each, name)]
        apart = [each for each in found if here is None or not branches_apart(place.source, each, here)]
        order = sorted(apart, key=lambda each: (each.lineno > line, -each.lineno))  # type: ignore[attr-defined]
        yield from ((place, each) for each in order)
        for call in calls_in(place.scope) if not order else ():
            yield from _changes_inside(place, call, name)


def _changes_inside(place: Place, call: ast.Call, name: str) -> Iterator[tuple[Place, ast.AST]]:
    """The lines of a function of the user's that change in place what they were given."""
    callee = called(place, call)
    for parameter, (_, value) in callee.arguments.items() if callee is not None else ():
        if callee is not None and base(value) == name:
            found = [each for each in own_nodes(callee.scope) if _changes_in_place(callee, each, parameter)]
            yield from ((callee, each) for each in found)


def _changes_in_place(place: Place, node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.AugAssign):
        return base(node.target) == name
    if isinstance(node, ast.Assign):
        return any(isinstance(each, ast.Subscript) and base(each) == name for each in node.targets)
    if not isinstance(node, ast.Call):
        return False
    verb = method(node)
    operands = [*node.args[:1], *([node.func.value] if isinstance(node.func, ast.Attribute) else [])]
    if verb.endswith("_") and not verb.endswith("__") and name in map(base, operands):
        return True
    given = {each.arg: each.value for each in node.keywords}
    if "out" in given and base(given["out"]) == name:
        return True
    handed = any(base(each) == name for each in node.args[:1])
    if handed and isinstance(given.get("inplace"), ast.Constant):
        return bool(given["inplace"].value)  # type: ignore[attr-defined]
    layer: Any = place.value(node.func) if handed and dotted(node.func) else None
    return is_module(layer) and any(getattr(each, "inplace", False) is True for each in layer.modules())


def _operation(node: ast.AST) -> str:
    if isinstance(node, ast.AugAssign):
        return ast.unparse(node.target) + {ast.Add: " +=", ast.Sub: " -=", ast.Mult: " *=", ast.Div: " /="}.get(
            type(node.op), " …="
        )
    if isinstance(node, ast.Assign):
        return f"{ast.unparse(node.targets[0])} ="
    return f"{ast.unparse(node.func)}()" if isinstance(node, ast.Call) else ""
