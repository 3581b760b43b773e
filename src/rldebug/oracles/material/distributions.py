"""Classes of distributions as functions: built anew from their parameters for every call."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

import torch

_KNOWN = ("loc", "scale", "mean", "std", "mu", "sigma", "log_std", "logits")


def as_function(target: Any, method: str) -> Callable[..., Any] | None:
    """A class with this method, or the method itself, as a function of the parameters; None for anything else.

    Stable-Baselines3 makes a distribution and hands the parameters to `proba_distribution`; torch takes them at once.
    """
    cls = target if inspect.isclass(target) else _owner(target, method)
    if cls is None or not hasattr(cls, method):
        return None
    if hasattr(cls, "proba_distribution"):
        names = _parameters(cls.proba_distribution)[1:]
        masked = ["mask"] if hasattr(cls, "apply_masking") else []
    elif issubclass(cls, torch.distributions.Distribution):
        every = _parameters(cls.__init__)[1:]
        names = [each for each in every if each in _KNOWN]
        masked = [each for each in every if each in ("mask", "masks")]
    else:
        return None
    with_action = ["action"] if method == "log_prob" else []

    def function(**given: Any) -> Any:
        return getattr(_made(cls, {name: given[name] for name in names}, [given[name] for name in masked]), method)(
            *(given[name] for name in with_action)
        )

    kind = inspect.Parameter.KEYWORD_ONLY
    order = [*names, *masked, *with_action]
    function.__signature__ = inspect.Signature([inspect.Parameter(each, kind) for each in order])  # type: ignore[attr-defined]
    function.__name__ = function.__qualname__ = f"{cls.__name__}.{method}"
    return function


def _made(cls: Any, given: dict[str, Any], masks: list[Any]) -> Any:
    if not hasattr(cls, "proba_distribution"):
        masked = [each for each in _parameters(cls.__init__) if each in ("mask", "masks")]
        return cls(**given, **{name: mask.bool() for name, mask in zip(masked, masks, strict=True)})
    made = cls(next(iter(given.values())).shape[-1]).proba_distribution(**given)
    for mask in masks:
        made.apply_masking(mask.bool())
    return made


def _owner(target: Any, method: str) -> Any:
    """The class of distributions whose method this is."""
    name, _, last = str(getattr(target, "__qualname__", "")).rpartition(".")
    if not inspect.isfunction(target) or last != method or not name or "." in name:
        return None
    return getattr(sys.modules.get(target.__module__), name, None)


def _parameters(function: Any) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []
