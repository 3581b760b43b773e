"""Running normalisers that are classes or objects: how they are made, fed, and asked."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from rldebug.oracles.names import meant, plain
from rldebug.oracles.oracle import Array, Quantity, floats

BATCHES, ROWS = "history_in_batches", "history_in_rows"
FED_BATCHES, FED_ROWS = "history_in_batches_by_calls", "history_in_rows_by_calls"

_UPDATES = (
    "update update_stats update_statistics update_from_batch push add observe record append partial_fit fit "
    "accumulate add_batch update_running update_running_stats update_batch extend push_batch update_mean_std "
    "update_normalizer step"
)
_ASKS = (
    "normalize normalise norm normalize_obs normalise_obs transform apply filter standardize standardise scale "
    "normalize_observation __call__ forward"
)
_MEANS = ["mean", "_mean", "running_mean", "mu", "_mu", "M", "_M", "m", "obs_mean", "avg", "average", "x_mean", "means"]
_VARS = ["var", "_var", "running_var", "variance", "_variance", "sigma2", "obs_var", "variances"]
_STDS = ["std", "_std", "running_std", "sigma", "stddev", "_sigma", "obs_std", "stds", "std_dev", "standard_deviation"]
_SQUARES = ["S", "_S", "M2", "_M2", "m2", "s", "M_2", "sum_sq_diff"]
_NESTED = "rms obs_rms running_ms running_mean_std stats rs running_stats ms running_stat normalizer statistics ob_rms"
_FLAGS = {
    "update",
    "training",
    "train",
    "update_stats",
    "is_training",
    "update_running",
    "do_update",
    "learn",
    "update_rms",
}
_SHAPES = Quantity("shape", "shape obs_shape size dim obs_dim num_inputs num_features n_features insize in_size "
                            "input_shape obs_size "
                   "state_dim input_dim space_shape n_inputs in_dim dims input_size feature_dim features state_shape "
                   "data_shape "
                   "num_obs n_obs ob_shape n nb_inputs")  # fmt: skip
_OTHERS = (
    (Quantity("epsilon", "epsilon eps eps_"), 1e-8),
    (Quantity("device", "device"), "cpu"),
    (Quantity("dtype", "dtype"), None),
    (Quantity("clip", "clip clip_range clip_obs clip_value clip_max max_value"), 10.0),
)
_PROBE = [floats([[1, 2], [4, 1], [3, 5]]), floats([[2, 7], [0, 3], [5, 1]])]


@dataclass(frozen=True)
class Way:
    """How a normaliser is used: made so, fed with such arrays, whole batches or row by row, and asked by a method."""

    make: Callable[[], Any]
    tensors: bool
    rows: bool
    update: str
    ask: str
    fed: bool  # it has no method to update but the one that normalises

    @property
    def argument(self) -> str:
        return {(False, False): BATCHES, (False, True): ROWS, (True, False): FED_BATCHES, (True, True): FED_ROWS}[
            self.fed, self.rows
        ]


def adapt(target: Any) -> Callable[..., Any] | None:
    """A class or object as a function of a history of batches and of what to normalise then."""
    if inspect.isroutine(target) or inspect.isfunction(target):
        return None
    update, ask = _methods(target)
    if not update:
        return None
    error: BaseException | None = None
    for make in _made(target):
        for way in _ways(make, update, ask):
            try:
                if _suits(way):
                    return _function(replace(way, fed=way.fed and _changes_when_asked(way)))
            except Exception as raised:
                error = error or raised

    def refuses(**named: Any) -> Any:
        raise TypeError(f"it could not be made and fed with arrays of (rows, 2): {error}")

    return _signed(refuses, BATCHES)


def _methods(target: Any) -> tuple[str, str]:
    """The method that updates and the one that normalises, which may be the same; or none."""
    held = target if inspect.isclass(target) else type(target)
    update = next((name for name in _UPDATES.split() if _takes_one(_own(held, name))), "")
    ask = next((name for name in _ASKS.split() if _takes_one(_own(held, name))), "")
    return update or ask, ask


def _own(held: Any, name: str) -> Any:
    """The method that the class itself has: every class can be called, and nn.Module has a forward that raises."""
    return next(
        (vars(each)[name] for each in held.__mro__[:-1] if each is not torch.nn.Module and name in vars(each)), None
    )


def _takes_one(method: Any) -> bool:
    if not callable(method):
        return False
    try:
        parameters = list(inspect.signature(method).parameters.values())[1:]
    except (TypeError, ValueError):
        return False
    needed = [
        each
        for each in parameters
        if each.default is each.empty and each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)
    ]
    flags = [each for each in needed if plain(each.name) in _FLAGS]
    return len(needed) - len(flags) == 1


def _made(target: Any) -> Iterator[Callable[[], Any]]:
    if not inspect.isclass(target):
        yield lambda: copy.deepcopy(target)
        return
    parameters = [
        each
        for each in inspect.signature(target).parameters.values()
        if each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)
    ]
    for shape in ((2,), 2, [2]):
        given: dict[str, Any] = {}
        for each in parameters:
            if meant(each.name, (_SHAPES,)):
                given[each.name] = shape
            elif each.default is each.empty:
                given[each.name] = next((value for known, value in _OTHERS if meant(each.name, (known,))), None)
        yield lambda given=given: target(**given)  # type: ignore[misc]


def _ways(make: Callable[[], Any], update: str, ask: str) -> Iterator[Way]:
    for rows in (False, True):
        for tensors in (False, True):
            yield Way(make, tensors, rows, update, ask, fed=update == ask)


def _suits(way: Way) -> bool:
    """Whether it takes such batches, and its mean has the shape of one row then."""
    thing = way.make()
    for batch in _PROBE:
        feed(way, thing, batch)
    mean = _found(thing, _MEANS)
    if mean is not None:
        return np.squeeze(mean).shape in ((2,), ()) or (way.rows and mean.size <= 2)
    return bool(way.ask) and asked(way, thing, _PROBE[0]).shape == _PROBE[0].shape


def _changes_when_asked(way: Way) -> bool:
    """Not where a flag or the mode of evaluation should keep it from being fed."""
    thing = way.make()
    feed(way, thing, _PROBE[0])
    if _FLAGS & {plain(each) for each in inspect.signature(getattr(thing, way.ask)).parameters}:
        return False
    before = _statistics(thing, 2)
    if isinstance(thing, torch.nn.Module):
        thing.eval()
    _call(getattr(thing, way.ask), _PROBE[1][0] if way.rows else _PROBE[1], way, flag=False)
    after = _statistics(thing, 2)
    return not before or any(not np.array_equal(before[name], after[name]) for name in before)


def feed(way: Way, thing: Any, batch: Array) -> None:
    if isinstance(thing, torch.nn.Module):
        thing.train()
    for part in batch if way.rows else [batch]:
        _call(getattr(thing, way.update), part, way, flag=True)


def asked(way: Way, thing: Any, queries: Array) -> Array:
    """What it makes of these rows: each by a copy where it takes one at a time or changes by being asked."""
    if isinstance(thing, torch.nn.Module):
        thing.eval()
    if not way.rows:
        return _plain(_call(getattr(thing, way.ask), queries, way, flag=False))
    return np.stack(
        [_plain(_call(getattr(copy.deepcopy(thing), way.ask), each, way, flag=False)).reshape(-1) for each in queries]
    )


def _call(method: Any, values: Array, way: Way, *, flag: bool) -> Any:
    given = torch.as_tensor(values.copy(), dtype=torch.float32) if way.tensors else np.array(values)
    flags = {name: flag for name in inspect.signature(method).parameters if plain(name) in _FLAGS}
    with torch.no_grad():
        return method(given, **flags)


def _plain(value: Any) -> Array:
    return floats(value.detach().cpu().numpy() if isinstance(value, torch.Tensor) else value)


def _found(thing: Any, names: list[str]) -> Array | None:
    """An attribute, a property or a method without arguments, of the object or of the one it holds."""
    for holder in (thing, *(getattr(thing, each) for each in _NESTED.split() if hasattr(thing, each))):
        for name in names:
            value = getattr(holder, name, None)
            try:
                value = value() if inspect.ismethod(value) else value
                array = None if value is None else _plain(value)
            except Exception:
                continue
            if array is not None and array.dtype != object:
                return array
    return None


def _function(way: Way) -> Callable[..., Any]:
    def called(**named: Any) -> dict[str, Any]:
        batches, queries = named[way.argument]
        thing = way.make()
        for batch in batches:
            feed(way, thing, batch)
        seen: dict[str, Any] = _statistics(thing, queries.shape[1])
        if not way.ask and "mean" in seen and "var" not in seen and (squares := _found(thing, _SQUARES)) is not None:
            seen["m2"] = _wide(squares, queries.shape[1])
        if way.ask:
            seen["normalised"] = bounded(asked(way, thing, queries))
            if not way.fed and not way.rows and "mean" in seen:
                seen["mean_afterwards"] = _statistics(thing, queries.shape[1])["mean"]
        return seen

    return _signed(called, way.argument)


def bounded(normalised: Array) -> Array:
    """Within ±5: some clip there, and what is divided by next to nothing depends on how little that is."""
    return np.clip(normalised, -5.0, 5.0)


def _statistics(thing: Any, width: int) -> dict[str, Any]:
    seen: dict[str, Any] = {}
    mean, var, std = (_found(thing, names) for names in (_MEANS, _VARS, _STDS))
    if mean is not None:
        seen["mean"] = _wide(mean, width)
    if var is not None:
        seen["var"] = _wide(var, width)
    elif std is not None:
        seen["var"] = _wide(std**2, width)
    return seen


def _wide(values: Array, width: int) -> Array:
    flat = values.reshape(-1)
    return np.full(width, flat[0]) if flat.size == 1 else flat


def _signed(function: Callable[..., Any], argument: str) -> Callable[..., Any]:
    parameter = inspect.Parameter(argument, inspect.Parameter.KEYWORD_ONLY)
    function.__signature__ = inspect.Signature([parameter])  # type: ignore[attr-defined]
    return function
