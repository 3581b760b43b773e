"""What an expression is: a network, an optimizer, an environment, a distribution, a tensor; told by how it was made."""

from __future__ import annotations

import ast
from functools import lru_cache

from rldebug.evidence.source import Source
from rldebug.syntax.bindings import bases, class_of_method, classes, first_parameter, reaching
from rldebug.syntax.flow import held, looped, of_object, put_in
from rldebug.syntax.names import dotted, library, method, receiver, resolved
from rldebug.syntax.places import function_of

_KEEPS = frozenset({"to", "cuda", "cpu", "float", "double", "half", "eval", "train", "requires_grad_", "share_memory"})
_METHODS = """
abs add all any argmax argmin bool broadcast_to ceil chunk clamp clamp_ clamp_max clamp_min clip clone contiguous
copy_ cos cummax cumprod cumsum detach diff div div_ dot eq exp expand expand_as fill_ flatten flip float floor
gather ge gt index_select int isfinite isnan le lerp lerp_ log log_softmax logsumexp long lt masked_fill matmul max
maximum mean median min minimum mm mul mul_ narrow ne neg norm permute pow pow_ prod relu repeat reshape roll round
scatter select sigmoid sign sin softmax sort split sqrt square squeeze squeeze_ stack std sub sub_ sum t take tanh
tile transpose trunc type type_as unbind unfold unsqueeze unsqueeze_ var view view_as where zero_
"""
_KEEPS_TENSOR = _KEEPS | frozenset(_METHODS.split())
_DRAWS = frozenset({"sample", "rsample", "log_prob", "entropy", "mode", "cdf", "icdf", "kl_divergence"})
_FUNCTIONS = """
Generator Size autocast compile device dtype enable_grad finfo get_num_threads iinfo inference_mode is_tensor load
manual_seed no_grad save set_default_dtype set_grad_enabled set_num_threads use_deterministic_algorithms
"""
_NO_TENSOR = frozenset(_FUNCTIONS.split())  # functions of torch that give none
_PACKAGES = {
    "torch.optim.lr_scheduler": "scheduler",
    "torch.optim": "optimizer",
    "torch.distributions": "distribution",
    "torch.nn.functional": "tensor",
    "gymnasium.vector": "vector-env",
    "stable_baselines3.common.vec_env": "vector-env",
    "stable_baselines3.common.env_util": "vector-env",
    "stable_baselines3": "agent",
    "sb3_contrib": "agent",
    "numpy": "array",
}
_MADE = {
    "gymnasium.make": "env",
    "gymnasium.make_vec": "vector-env",
    "torch.nn.Parameter": "parameter",
    "torch.nn.parameter.Parameter": "parameter",
    "torch.distributions.kl_divergence": "tensor",
    "torch.distributions.kl.kl_divergence": "tensor",
    "copy.deepcopy": "same",
    "copy.copy": "same",
    "torch.compile": "same",
    "torch.nn.DataParallel": "same",
    "torch.nn.parallel.DistributedDataParallel": "same",
}
_BASES = {
    "torch.nn.Module": "module",
    "torch.nn.ModuleList": "module",
    "torch.nn.Sequential": "module",
    "pytorch_lightning.LightningModule": "module",
    "lightning.LightningModule": "module",
    "gymnasium.Env": "env",
    "gymnasium.Wrapper": "env",
    "gymnasium.core.Env": "env",
    "gymnasium.core.Wrapper": "env",
    "torch.utils.data.Dataset": "dataset",
}
_ANNOTATED = {"torch.Tensor": "tensor", "torch.FloatTensor": "tensor", "numpy.ndarray": "array", **_BASES}
_DEEPEST = 12


def kind(source: Source, expression: ast.expr | None) -> str:
    """module, optimizer, scheduler, env, vector-env, distribution, tensor, parameter, array, agent; or nothing."""
    return _kind(source, expression, _DEEPEST) if expression is not None else ""


@lru_cache(maxsize=65536)
def _kind(source: Source, node: ast.expr, depth: int) -> str:
    if depth <= 0:
        return ""
    if isinstance(node, ast.Call):
        return _of_call(source, node, depth - 1)
    if isinstance(node, ast.Name | ast.Attribute):
        if isinstance(node, ast.Attribute) and node.attr in ("data", "grad", "T", "mT", "mean", "probs", "logits"):
            inner = _kind(source, node.value, depth - 1)
            if inner in ("tensor", "parameter", "distribution", "array"):
                return "array" if inner == "array" else "tensor"
        return _of_name(source, node, depth - 1)
    if isinstance(node, ast.BinOp):
        sides = {_kind(source, node.left, depth - 1), _kind(source, node.right, depth - 1)}
        return next((each for each in ("tensor", "array") if each in sides), "tensor" if "parameter" in sides else "")
    if isinstance(node, ast.UnaryOp):
        return _kind(source, node.operand, depth - 1)
    if isinstance(node, ast.Compare):
        return next((k for k in (_kind(source, node.left, depth - 1),) if k in ("tensor", "array")), "")
    if isinstance(node, ast.Subscript):
        inner = _kind(source, node.value, depth - 1)
        return inner if inner in ("tensor", "array") else ""
    if isinstance(node, ast.IfExp | ast.NamedExpr):
        return _agreed({_kind(source, each, depth - 1) for each, _ in held(source, node)})
    return ""


def _of_call(source: Source, call: ast.Call, depth: int) -> str:
    name = library(source, call)
    if name:
        return _of_library(source, name, call, depth)
    own = dotted(call.func)
    if own in classes(source):
        return class_kind(source, classes(source)[own])
    inner = receiver(call)
    if inner is not None:
        on = _kind(source, inner, depth)
        if on in ("tensor", "parameter"):
            if method(call) in ("numpy",):
                return "array"
            return "tensor" if method(call) in _KEEPS_TENSOR else ""
        if on == "array":
            return "array" if method(call) in _KEEPS_TENSOR | {"astype", "copy"} else ""
        if on == "distribution" and method(call) in _DRAWS:
            return "tensor"
        if on and method(call) in _KEEPS:
            return on
        if on == "module" and method(call) == "forward":
            return _output(source, inner, depth)
    on = _kind(source, call.func, depth)
    if on == "module":
        return _output(source, call.func, depth)
    return _agreed({_kind(source, each, depth) for each, _ in held(source, call)})


def _of_library(source: Source, name: str, call: ast.Call, depth: int) -> str:
    made = _MADE.get(name)
    if made == "same":
        return _kind(source, call.args[0], depth) if call.args else ""
    if made:
        return made
    if name.startswith("gymnasium.wrappers."):
        return (_kind(source, call.args[0], depth) if call.args else "") or "env"
    package, _, last = name.rpartition(".")
    for known, told in _PACKAGES.items():
        if name.startswith(f"{known}."):
            if told in ("optimizer", "scheduler", "distribution", "vector-env", "agent") and not last[:1].isupper():
                return "vector-env" if last == "make_vec_env" else ""
            return told
    if package == "torch.nn" and last[:1].isupper():
        return "module"
    if package == "torch" and last not in _NO_TENSOR:
        return "tensor"
    return "tensor" if package in ("torch.special", "torch.linalg") else ""


def _of_name(source: Source, node: ast.expr, depth: int) -> str:
    if isinstance(node, ast.Name) and (owner := _self_of(source, node)) is not None:
        return class_kind(source, owner)
    found = set()
    for binding in reaching(source, node):
        if isinstance(binding.node, ast.arg):
            told = _annotated(source, binding.node.annotation)
            if told:
                found.add(told)
                continue
        if binding.how == "augmented" or (binding.how == "assigned" and binding.path):
            continue
        if binding.how == "looped" and looped(source, binding) is None:
            continue
        values = [each for each, by in held(source, node) if by in (binding, None)]
        found |= {_kind(source, each, depth) for each in values}
    if of_object(source, node) and not reaching(source, node):
        found = {_kind(source, each, depth) for each, by in held(source, node) if by is None or not by.path}
    if not found and (holds := list(put_in(source, node))):
        return "list" if holds else ""
    return _agreed(found)


def _self_of(source: Source, node: ast.Name) -> ast.ClassDef | None:
    """The class whose method calls its object so."""
    function = function_of(source, node)
    if function is None or first_parameter(function) != node.id:
        return None
    static = any(dotted(each) in ("staticmethod", "classmethod") for each in function.decorator_list)
    return None if static else class_of_method(source, function)


def _annotated(source: Source, annotation: ast.expr | None) -> str:
    if annotation is None:
        return ""
    if isinstance(annotation, ast.BinOp):  # Tensor | None
        return _annotated(source, annotation.left) or _annotated(source, annotation.right)
    if isinstance(annotation, ast.Subscript):
        return _annotated(source, annotation.slice) if dotted(annotation.value).endswith("Optional") else ""
    name = resolved(source, annotation)
    own = classes(source).get(dotted(annotation))
    if own is not None:
        return class_kind(source, own)
    if name.startswith("torch.optim."):
        return "optimizer"
    if name.startswith("torch.distributions."):
        return "distribution"
    return _ANNOTATED.get(name, "")


@lru_cache(maxsize=4096)
def class_kind(source: Source, owner: ast.ClassDef) -> str:
    """What the objects of a class of this file are, by what it inherits from."""
    for each in (owner, *bases(source, owner)):
        for base in each.bases:
            name = resolved(source, base)
            if name in _BASES:
                return _BASES[name]
            package, _, last = name.rpartition(".")
            if package == "torch.nn" and last[:1].isupper():
                return "module"
            if package.startswith(("stable_baselines3.", "sb3_contrib.")) and last.endswith(("Extractor", "Policy")):
                return "module"
            if package.startswith("gymnasium") and last.endswith(("Wrapper", "Env")):
                return "env"
            if package.startswith("torch.distributions"):
                return "distribution"
            if package.startswith("torch.optim"):
                return "optimizer"
    return ""


def module_class(source: Source, expression: ast.expr) -> ast.ClassDef | None:
    """The class of this file that a network was made from."""
    known = set(_classes_of(source, expression, _DEEPEST))
    return next(iter(known)) if len(known) == 1 else None


def _classes_of(source: Source, node: ast.expr, depth: int) -> list[ast.ClassDef]:
    if depth <= 0:
        return []
    if isinstance(node, ast.Call):
        own = classes(source).get(dotted(node.func))
        if own is not None:
            return [own]
        if library(source, node) in ("copy.deepcopy", "copy.copy", "torch.compile") and node.args:
            return _classes_of(source, node.args[0], depth - 1)
        inner = receiver(node)
        if inner is not None and method(node) in _KEEPS:
            return _classes_of(source, inner, depth - 1)
    return [one for each, _ in held(source, node) for one in _classes_of(source, each, depth - 1)]


def _output(source: Source, network: ast.expr, depth: int) -> str:
    """What calling a network gives: a tensor, where its forward() returns one thing."""
    owner = module_class(source, network)
    if owner is None:
        return "tensor"
    for each in (owner, *bases(source, owner)):
        forward = next((n for n in each.body if isinstance(n, ast.FunctionDef) and n.name == "forward"), None)
        if forward is not None:
            values = [n.value for n in ast.walk(forward) if isinstance(n, ast.Return) and n.value is not None]
            if any(isinstance(value, ast.Tuple | ast.Dict | ast.List) for value in values):
                return ""
            if any(_kind(source, value, depth) == "distribution" for value in values):
                return "distribution"
            return "tensor" if values else ""
    return "tensor"


def _agreed(found: set[str]) -> str:
    told = found - {""}
    return next(iter(told)) if len(told) == 1 else ""
