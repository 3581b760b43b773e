"""Errors about one tensor: a parameter changed by hand, a gradient that is missing, a tensor that should be data."""

from __future__ import annotations

import ast
from types import FrameType
from typing import Any

from rldebug.evidence.crashes.facts import Fact, attributes, is_module, is_tensor
from rldebug.evidence.crashes.named import Named, modules, parameter_name
from rldebug.evidence.crashes.scene import Scene, line_of
from rldebug.evidence.crashes.source import Place, bindings, first_argument, line_told, methods_of, node_at
from rldebug.evidence.crashes.walk import leaves, walk
from rldebug.syntax.names import dotted, method

ABOUT_LEAVES = (
    "leaf Variable that requires grad",
    "on Tensor that requires grad",
    "appears to not have been used in the graph",
    "support the deepcopy protocol",
    "serialize non-leaf tensor",
    "is non-finite, so it cannot be clipped",
    "'NoneType'",
    "can't optimize a non-leaf Tensor",
    "empty parameter list",
    "only for scalar outputs",
    "nference tensor",
)
_MOST = 4  # names that are listed


def leaf_facts(scene: Scene) -> Fact:
    text = scene.message
    if "only for scalar outputs" in text:
        return _not_scalar(scene)
    if "appears to not have been used" in text:
        return _unused(scene)
    if "is non-finite" in text:
        return _nonfinite(scene)
    if "'NoneType'" in text:
        return _no_gradient(scene)
    if "empty parameter list" in text:
        return _empty(scene)
    tensor = _culprit(scene)
    return _told(scene, tensor) if tensor is not None else {}


def _not_scalar(scene: Scene) -> Fact:
    """The loss, the line that made it, and the terms of it that are not single numbers."""
    facts: Fact = {"fault": "not scalar", "loss": scene.loss}
    aliases = scene.aliases.get(id(scene.roots[0]), []) if scene.roots else []
    expression: ast.AST | None = scene.asked[2] if scene.asked else None
    place = scene.asked[0] if scene.asked else None
    known = scene.made(aliases)
    if known is not None:
        facts["made"] = line_of(known[1], scene.roots[0].grad_fn)
        expression, place = known[1].value, known[1].place
    terms = {}
    for node in ast.walk(expression) if expression is not None and place is not None else ():
        value: Any = place.value(node) if dotted(node) and place is not None else None
        if is_tensor(value) and value.requires_grad and not any(value is each for each in scene.roots):
            terms[dotted(node)] = value
    broad = {name: value for name, value in terms.items() if value.numel() > 1}
    if len(broad) < len(terms):
        facts["terms"] = [{"name": name, "shape": list(value.shape)} for name, value in broad.items()][:_MOST]
        if len(broad) == 1:
            known = scene.made(scene.aliases.get(id(next(iter(broad.values()))), []))
    if known is not None and (call := _partly_reduced(known[1].value)) is not None:
        facts["reduced"] = {**line_told(known[1].place, call), "by": _written(call)}
    return facts


def _partly_reduced(value: ast.AST) -> ast.Call | None:
    """`x.mean(0)` as the last thing done to a value: of one dimension, not of all. A sign or a factor may follow."""
    while isinstance(value, ast.UnaryOp | ast.BinOp):
        value = value.operand if isinstance(value, ast.UnaryOp) else _product(value)
    if not isinstance(value, ast.Call) or method(value) not in ("mean", "sum"):
        return None
    given = [*value.args, *(each for each in value.keywords if each.arg in ("dim", "axis"))]
    return value if given and dotted(value.func) not in ("torch.mean", "torch.sum") else None


def _product(value: ast.BinOp) -> ast.AST:
    """The side of `0.5 * x` that is not a number."""
    return value.right if isinstance(value.left, ast.Constant) else value.left


def _written(call: ast.Call) -> str:
    """`mean(0)`, without what it is called on."""
    return f"{method(call)}({', '.join(ast.unparse(each) for each in (*call.args, *call.keywords))})"


def _culprit(scene: Scene) -> Any:
    """The tensor that the error is about: what a method of torch was called on, or the operands of the line."""
    for frame in reversed(scene.frames):
        module, name = frame.f_globals.get("__name__", ""), frame.f_code.co_name
        if module == "torch._tensor" and name in ("__deepcopy__", "__array__", "__reduce_ex__", "numpy"):
            return frame.f_locals.get("self")
        if module == "torch.multiprocessing.reductions" and is_tensor(frame.f_locals.get("tensor")):
            return frame.f_locals["tensor"]
        if module.startswith("torch.optim") and is_tensor(frame.f_locals.get("param")):
            return frame.f_locals["param"]
    return _operand(scene)


def _operand(scene: Scene) -> Any:
    """Of the tensors in the line, the one that can be meant: a leaf for changes by hand, else one with a graph."""
    if not scene.stack:
        return None
    place = scene.stack[0]
    here = node_at(place, place.line or 0)
    found = [place.value(node) for node in ast.walk(here) if dotted(node)] if here is not None else []
    given = [each for each in found if is_tensor(each)]
    leaf = "leaf Variable" in scene.message
    wanted = [each for each in given if _is_meant(each, leaf, "nference tensor" in scene.message)]
    target: Any = _changed(place, here) if leaf else None
    return target if is_tensor(target) and target.requires_grad else wanted[0] if wanted else None


def _is_meant(value: Any, leaf: bool, inference: bool) -> bool:
    if inference:
        return bool(value.is_inference())
    return bool(value.requires_grad) and (bool(value.is_leaf) or value._base is not None if leaf else True)


def _changed(place: Place, here: ast.AST | None) -> Any:
    """What the statement changes: the target of `p += x`, of `p[0] = x`, the receiver of `p.mul_(x)`."""
    for node in ast.walk(here) if here is not None else ():
        target: ast.AST | None = None
        if isinstance(node, ast.AugAssign):
            target = node.target
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            target = node.targets[0]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.endswith("_"):
            target = node.func.value if not dotted(node.func).startswith("torch.") else None
        while isinstance(target, ast.Subscript):
            target = target.value
        if target is not None and is_tensor(value := place.value(target)):
            return value
    return None


def _told(scene: Scene, tensor: Any) -> Fact:
    """Its name, its shape, the network that it belongs to or was computed by, and the line that made it."""
    base = tensor._base if tensor.is_leaf is False and tensor._base is not None else tensor
    owner = scene.owners.get(id(tensor)) or scene.owners.get(id(base))
    aliases = scene.aliases.get(id(tensor), [])
    facts: Fact = {"fault": "tensor", "shape": [int(each) for each in tensor.shape]}
    facts["name"] = aliases[0].path if aliases else ""
    if owner is not None and owner[1]:
        facts |= {"parameter": parameter_name(owner), "network": owner[0]}
    elif tensor.grad_fn is not None:
        told = walk([tensor])
        facts["networks"] = scene.networks(leaves(told, told.order[-1:]))
        facts["by"] = tensor.grad_fn.name().removesuffix("0").removesuffix("Backward")
    if aliases and (known := scene.made(sorted(aliases, key=_attribute_last))) is not None:
        facts["made"] = line_of(known[1], tensor.grad_fn)
        facts["name"] = known[0].path
    return facts


def _attribute_last(alias: Named) -> bool:
    return alias.path.startswith("self.")


# ── gradients ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _frame_of(scene: Scene, module: str, name: str) -> FrameType | None:
    for frame in reversed(scene.frames):
        if frame.f_globals.get("__name__") == module and frame.f_code.co_name == name:
            return frame
    return None


def _unused(scene: Scene) -> Fact:
    """The inputs of autograd.grad() that the outputs do not lead to."""
    frame = _frame_of(scene, "torch.autograd", "grad")
    if frame is None:
        return {}
    inputs = frame.f_locals.get("inputs", ())
    inputs = [inputs] if is_tensor(inputs) else list(inputs)
    told = walk(scene.roots)
    reached = {id(each) for each in leaves(told, told.order[-1:])}
    used = {
        *reached,
        *(id(each) for each in inputs if each.grad_fn is not None and id(each.grad_fn) in told.nodes),
    }
    missing = [each for each in inputs if id(each) not in used]
    names = [_name_of(scene, each) for each in missing]
    networks = list(dict.fromkeys(scene.networks(missing)))
    reaches = scene.networks(leaves(told, told.order[-1:]))
    return {
        "fault": "unused",
        "loss": scene.loss,
        "names": [each for each in names if each][:_MOST],
        "count": len(missing),
        "of": len(inputs),
        "networks": networks,
        "reaches": reaches,
    }


def _name_of(scene: Scene, tensor: Any) -> str:
    owner = scene.owners.get(id(tensor))
    if owner is not None:
        return parameter_name(owner)
    aliases = scene.aliases.get(id(tensor), [])
    return aliases[0].path if aliases else ""


def _nonfinite(scene: Scene) -> Fact:
    """The parameters whose gradient is not finite, and the named values that are not."""
    import torch

    bad: list[str] = []
    total = 0
    seen: set[int] = set()
    for each in modules(scene.named):
        for parameter in each.value.parameters():
            if id(parameter) in seen or parameter.grad is None:
                continue
            seen.add(id(parameter))
            total += 1
            if not bool(torch.isfinite(parameter.grad).all()):
                bad.append(_name_of(scene, parameter))
    values = [
        each.path
        for each in scene.named
        if is_tensor(each.value)
        and not isinstance(each.value, torch.nn.Parameter)
        and each.value.is_floating_point()
        and 0 < each.value.numel() < 1 << 18
        and not bool(torch.isfinite(each.value.detach()).all())
    ]
    return {
        "fault": "nonfinite",
        "names": bad[:_MOST],
        "count": len(bad),
        "of": total,
        "values": list(dict.fromkeys(values))[:_MOST],
    }


def _no_gradient(scene: Scene) -> Fact:
    """`p.grad.norm()` where p.grad is None: which parameter p is, and who else has none."""
    if not scene.stack:
        return {}
    place = scene.stack[0]
    here = node_at(place, place.line or 0)
    asked: Any = None
    for node in ast.walk(here) if here is not None else ():
        value: Any = place.value(node.value) if isinstance(node, ast.Attribute) and node.attr == "grad" else None
        if is_tensor(value) and value.grad is None:
            asked = value
            break
    if asked is None:
        return {}
    facts: Fact = {"fault": "no gradient", "name": _name_of(scene, asked), "leaf": bool(asked.is_leaf)}
    owner = scene.owners.get(id(asked))
    for each in modules(scene.named):
        parameters = dict(each.value.named_parameters())
        if any(asked is one for one in parameters.values()) and (owner is None or each.path == owner[0]):
            without = [name for name, one in parameters.items() if one.grad is None]
            frozen = [name for name in without if not parameters[name].requires_grad]
            return {
                **facts,
                "network": each.path,
                "without": len(without),
                "of": len(parameters),
                "frozen": len(frozen),
            }
    return facts


# ── an optimizer that got nothing ───────────────────────────────────────────────────────────────────────────────────


def _empty(scene: Scene) -> Fact:
    facts: Fact = {"fault": "empty"}
    place = scene.stack[0] if scene.stack else None
    here = node_at(place, place.line or 0) if place is not None else None
    calls = [node for node in ast.walk(here) if isinstance(node, ast.Call)] if here is not None else []
    networks = [(dotted(node), place.value(node)) for call in calls for node in ast.walk(call) if dotted(node)]  # type: ignore[union-attr]
    for name, network in networks:
        if not is_module(network):
            continue
        facts["network"] = name
        for held, value in attributes(network).items():
            inside = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
            count = sum(is_module(each) for each in inside) if not held.startswith("_") else 0
            if count:
                facts |= {"attribute": held, "count": count, "type": type(value).__name__}
                for method in methods_of(network):
                    for binding in bindings(method.scope, f"{first_argument(method)}.{held}")[:1]:
                        facts.setdefault("made", line_told(method, binding.statement))
        return facts
    for name, value in networks:
        if type(value).__name__ == "generator" and place is not None:
            facts |= {"used_up": name}
            for binding in bindings(place.scope, name)[-1:]:
                facts["made"] = line_told(place, binding.statement)
            return facts
        if isinstance(value, list) and not value:
            return {**facts, "list": name}
    return facts
