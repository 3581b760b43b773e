"""Distributions: what is sampled, which log-probs and entropies are asked for. Also torch.multinomial.

The methods are replaced once and for all; outside of audits that costs an `if`. One distribution is often made of
others: only the outermost call counts.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.distributions import Distribution

from rldebug.capture import distributions as here  # what a stand-in refers to must be a module: see stand_in.py
from rldebug.capture.place import users_line
from rldebug.capture.stand_in import calling_line, out_of_reach, replace_in_family, stand_in, tell_torchscript

GROUP = "distributions"
METHODS = ("log_prob", "entropy", "sample", "rsample")
_BOTH = {"sample_and_log_prob": "sample", "rsample_and_log_prob": "rsample"}  # of libraries: both in one call
_OF_A_LINE = 256  # events of one kind and line of code in an audit; a rollout has as many as it has steps
_SHAPES = frozenset({"Expand", "View", "UnsafeView", "Squeeze", "Unsqueeze", "Slice", "Select", "Split", "Alias", "T"})
_ROWS = 4096
_VALUES = 16_384  # of one array

watch: Distributions | None = None


def install(session: Any) -> None:
    global watch
    watch = Distributions(session)
    switch = session.switch
    replace_in_family(switch, GROUP, Distribution, (*METHODS, *_BOTH), _method)
    switch.replace(GROUP, torch, "multinomial", _multinomial)
    tell_torchscript(torch.multinomial, "aten::multinomial", switch)
    switch.replace(GROUP, Tensor, "multinomial", _multinomial)
    switch.when_undone(_forget)


def _forget() -> None:
    global watch
    watch = None


def _method(name: str, original: Any) -> Any:
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        # Asked first: what is compiled must not depend on whether an audit is under way.
        if torch.compiler.is_compiling():
            return original(self, *args, **kwargs)
        mine = here.watch
        if mine is None or mine.inside():
            return original(self, *args, **kwargs)
        if name in ("sample", "sample_and_log_prob"):
            mine.session.drew()
        if mine.session.audit is None:
            return original(self, *args, **kwargs)
        mine.enter(True)
        try:
            result = original(self, *args, **kwargs)
        finally:
            mine.enter(False)
        if name in here._BOTH and isinstance(result, tuple) and len(result) == 2:
            mine.look(here._BOTH[name], self, args, kwargs, result[0])
            mine.look("log_prob", self, result[:1], {}, result[1])
        else:
            mine.look(name, self, args, kwargs, result)
        return result

    return stand_in(original, call)


def _multinomial(original: Any) -> Any:
    def multinomial(*args: Any, **kwargs: Any) -> Any:
        if torch.compiler.is_compiling():
            return original(*args, **kwargs)
        mine = here.watch
        if mine is not None and not mine.inside():
            mine.session.drew()
        result = original(*args, **kwargs)
        if mine is not None and mine.session.audit is not None and not mine.inside():
            mine.look("multinomial", None, args, kwargs, result)
        return result

    return stand_in(original, multinomial)


class Distributions:
    def __init__(self, session: Any) -> None:
        self.session = session
        self._local = threading.local()
        self._audit: int | None = None
        self._of_line: dict[tuple[str, str, int], int] = {}

    def inside(self) -> bool:
        return getattr(self._local, "inside", False)

    def enter(self, inside: bool) -> None:
        self._local.inside = inside

    def look(self, name: str, dist: Any, args: Any, kwargs: Any, result: Any) -> None:
        with self.session.timed():
            self.session.switch.guard(GROUP, self._saw, name, dist, args, kwargs, result)

    def _saw(self, name: str, dist: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        audit = self.session.audit
        if audit is None or out_of_reach() or not isinstance(result, Tensor):
            return
        if audit.number != self._audit:
            self._audit = audit.number
            self._of_line.clear()
        line = (name, *calling_line())
        count = self._of_line[line] = self._of_line.get(line, 0) + 1
        if count > _OF_A_LINE and count & (count - 1):
            return
        if name == "multinomial":
            given = args[0] if args else kwargs.get("input")
            self._sampled(audit, "multinomial", name, ["probs"], [given], result)
            return
        names, parameters = parameters_of(dist)
        if name == "entropy":
            detail = {"dist": type(dist).__name__, "shape": list(result.shape), "attached": result.requires_grad}
            arrays = _arrays(result=result)
            audit.event("entropy", {**detail, "line": users_line(3)}, arrays)
        elif name == "log_prob":
            self._scored(audit, dist, args[0] if args else kwargs.get("value"), result, names, parameters)
        else:
            self._sampled(audit, type(dist).__name__, name, names, parameters, result)

    def _scored(
        self, audit: Any, dist: Any, value: Any, result: Tensor, names: list[str], parameters: list[Tensor]
    ) -> None:
        attached = isinstance(value, Tensor) and value.requires_grad
        detail = {
            "dist": type(dist).__name__,
            "inner": _inner(dist),
            "batch": list(dist.batch_shape),
            "event": list(dist.event_shape),
            "value_shape": list(np.shape(value)) if not isinstance(value, Tensor) else list(value.shape),
            "value_dtype": str(getattr(value, "dtype", type(value).__name__)),
            "shape": list(result.shape),
            "attached": result.requires_grad,
            "value_attached": attached,
            "params": names,
            "made": [_made(each) for each in parameters],
            "line": users_line(3),
        }
        audit.event("logp", detail, _arrays(value=value, result=result, params=parameters))

    def _sampled(
        self, audit: Any, dist: str, how: str, names: list[str], parameters: list[Any], result: Tensor
    ) -> None:
        detail = {
            "dist": dist,
            "how": how,
            "shape": list(result.shape),
            "attached": result.requires_grad,
            "params": names,
            "line": users_line(3),
        }
        audit.event("sample", detail, _arrays(result=result, params=parameters))


def parameters_of(dist: Any) -> tuple[list[str], list[Tensor]]:
    """The numbers a distribution is made from, of the innermost. Only what is there: asking might compute it."""
    for _ in range(8):
        inner = vars(dist).get("base_dist")
        if not isinstance(inner, Distribution):
            break
        dist = inner
    own = vars(dist)
    for names in (["logits"], ["probs"], ["loc", "scale"], ["loc", "_unbroadcasted_scale_tril"]):
        found = [own[name] for name in names if isinstance(own.get(name), Tensor)]
        if len(found) == len(names):
            return names, found
    # Categorical and Bernoulli of one-hot or mixed kinds keep theirs one level down.
    held = own.get("_categorical")
    if isinstance(held, Distribution):
        return parameters_of(held)
    names = [name for name in getattr(type(dist), "arg_constraints", {}) if isinstance(own.get(name), Tensor)][:4]
    return names, [own[name] for name in names]


def _made(parameter: Any) -> str | None:
    """The operation that made it, where there is a graph; what only changes shapes is left out."""
    node = getattr(parameter, "grad_fn", None)
    for _ in range(8):
        if node is None:
            return None
        name = str(node.name()).partition("Backward")[0]
        if name not in _SHAPES:
            return name
        node = node.next_functions[0][0] if node.next_functions else None
    return None


def _inner(dist: Any) -> list[str]:
    found: list[str] = []
    while len(found) < 8 and isinstance(vars(dist).get("base_dist"), Distribution):
        dist = vars(dist)["base_dist"]
        found.append(type(dist).__name__)
    return found


def _arrays(**given: Any) -> dict[str, NDArray[Any]]:
    """Copies, with one row for each of the first axis. Several parameters lie side by side, in the order of names."""
    found: dict[str, NDArray[Any]] = {}
    for name, value in given.items():
        parts = value if isinstance(value, list) else [value]
        rows = [each for part in parts if (each := _rows(part)) is not None]
        if not rows or len(rows) < len(parts):
            continue
        height = max(len(each) for each in rows)
        if len(rows) > 1:
            rows = [
                np.broadcast_to(each, (height, each.shape[1]))
                for each in map(_matrix, rows)
                if len(each) in (1, height)
            ]
            if len(rows) < len(parts):
                continue
            found[name] = np.concatenate(rows, axis=1)
        else:
            found[name] = rows[0]
    return found


def _rows(value: Any) -> NDArray[Any] | None:
    if not isinstance(value, Tensor):
        return None
    tensor = value.detach()
    if tensor.is_sparse or tensor.is_complex() or not tensor.numel():
        return None
    tensor = tensor.reshape(1) if tensor.dim() == 0 else tensor
    tensor = tensor if tensor.dim() == 1 else tensor.reshape(len(tensor), -1)
    width = 1 if tensor.dim() == 1 else tensor.shape[1]
    tensor = tensor[: max(1, min(_ROWS, _VALUES // width))]
    if tensor.is_floating_point():
        tensor = tensor.float()
    return np.array(tensor.cpu().numpy())


def _matrix(array: NDArray[Any]) -> NDArray[Any]:
    return array if array.ndim == 2 else array[:, None]
