"""By which running statistics environments normalise what they show and pay: VecNormalize, Gymnasium's wrappers.

Looked at where an audit ends, and amid an evaluation, of all environments that live: those of training and of
evaluation at the same moment.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from rldebug.capture.env_calls import shared_by
from rldebug.capture.env_facts import attribute, chain, library, lying_in

if TYPE_CHECKING:
    from rldebug.capture.session import Session

GROUP = "networks"
_ENVS = 16
_ELEMENTS = 16  # of an observation
_HELD = 32  # attributes of a layer that are looked into
_ARRAYS = 4
_COUNTS = 8  # numbers beside them
_PAIR = 2  # arrays that statistics are made of: a mean and a measure of spread


def install(session: Session) -> None:
    shared = shared_by(session.switch, session.told)

    def tell(recording: Any) -> None:
        living = [
            (stream.index, env)
            for _, watch in shared.watches
            for known in list(watch.known.values())
            if (env := known.ref()) is not None and (stream := session.log.stream_of(env)) is not None
        ]
        found = [{"stream": stream, **told} for stream, env in living for told in normalisers(env)]
        paid = [{"stream": stream, **told} for stream, env in living for told in reward_normalisers(env)]
        known_as = {each.index: each for each in session.log.streams}
        kept = {  # an environment and its wrappers are known one by one
            (stream, told["kept"]): {
                "stream": stream,
                "steps": known_as[stream].steps,
                "resets": known_as[stream].resets,
                **told,
            }
            for stream, env in living
            for told in own_statistics(env, known_as[stream].shape)
        }
        own = list(kept.values())
        if found or paid or own:
            parts = {"environments": found[:_ENVS], "rewards": paid[:_ENVS], "own": own[:_ENVS]}
            session.note("normalisers", audit=recording.number, **parts)

    for moments in (session.on_audit, session.on_play):
        moments.append(lambda recording: session.switch.guard(GROUP, tell, recording))


def normalisers(env: Any) -> Iterator[dict[str, Any]]:
    """Each layer around the environment that scales observations by what it has seen."""
    for layer in chain(env):
        kept = attribute(layer, "obs_rms")
        if kept is None or attribute(layer, "norm_obs") is False:
            continue
        # Of observations in several parts there is one of each: the first tells when all are updated.
        one = next(iter(kept.values()), None) if isinstance(kept, dict) else kept
        yield _told(layer, one) | {
            "mean": _elements(attribute(one, "mean")),
            "var": _elements(attribute(one, "var")),
        }


def reward_normalisers(env: Any) -> Iterator[dict[str, Any]]:
    """Each layer that scales rewards by the returns that it has seen."""
    for layer in chain(env):
        kept = next((each for name in ("ret_rms", "return_rms") if (each := attribute(layer, name)) is not None), None)
        if kept is not None and attribute(layer, "norm_reward") is not False:
            yield _told(layer, kept)


def own_statistics(env: Any, shape: Any) -> Iterator[dict[str, Any]]:
    """Each layer of the program's own that keeps arrays of the shape of an observation: such as means and variances."""
    if not shape or len(shape) != 1:
        return
    for layer in list(chain(env))[:-1]:
        if library(layer):
            continue
        for path, holder in _holders(layer):
            arrays = {name: each for name, each in holder.items() if _like(each, shape)}
            if len(arrays) >= _PAIR:
                told = {str(name): _elements(each) for name, each in list(arrays.items())[:_ARRAYS]}
                counts = {str(name): float(each) for name, each in holder.items() if _is_count(each)}
                yield {
                    "what": type(layer).__name__,
                    "path": path,
                    "kept": id(holder),
                    "arrays": told,
                    "counts": dict(list(counts.items())[:_COUNTS]),
                }


def _holders(layer: Any) -> Iterator[tuple[str, dict[Any, Any]]]:
    """What lies in the layer itself, in its dicts, and in its plain objects: an environment is a layer of its own."""
    own = getattr(layer, "__dict__", None)
    if not isinstance(own, dict):
        return
    yield "", own
    for name, value in list(own.items())[:_HELD]:
        inner = value if isinstance(value, dict) else getattr(value, "__dict__", None)
        if isinstance(inner, dict) and lying_in(type(value), "step") is None and not isinstance(value, type):
            yield str(name), inner


def _like(value: Any, shape: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.shape == tuple(shape)


def _is_count(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool) and bool(value >= 1)


def _told(layer: Any, kept: Any) -> dict[str, Any]:
    switches = (attribute(layer, name) for name in ("training", "_update_running_mean"))
    count = attribute(kept, "count")
    return {
        "what": type(layer).__name__,
        "updates": next((each for each in switches if isinstance(each, bool)), None),
        "kept": id(kept),  # the same in two environments: they share their statistics
        "count": float(count) if isinstance(count, (int, float, np.number)) else None,
    }


def _elements(value: Any) -> list[float] | None:
    return np.ravel(value)[:_ELEMENTS].astype(float).tolist() if isinstance(value, np.ndarray) else None
