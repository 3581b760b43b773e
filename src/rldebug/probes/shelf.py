"""The probes, by name and in the order of the ladder; and their ids with Gymnasium."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from rldebug.probes import outside
from rldebug.probes.environment import ProbeEnv
from rldebug.probes.probe import Probe


class ProbeError(Exception):
    """No such probe, or one that cannot be had that way; says what there is."""


@cache
def probes() -> tuple[type[Probe], ...]:
    """Every probe, from the lowest rung of the ladder up."""
    envs = importlib.import_module("rldebug.probes.envs")
    found: list[type[Probe]] = []
    for info in pkgutil.iter_modules(envs.__path__):
        module = importlib.import_module(f"rldebug.probes.envs.{info.name}")
        found += [
            each
            for each in vars(module).values()
            if inspect.isclass(each) and issubclass(each, Probe) and each.__module__ == module.__name__
        ]
    return tuple(sorted(found, key=lambda each: each.rung))


def find(name: str) -> type[Probe]:
    for each in probes():
        if name.lower() in (each.name, each.name.replace("-", "_"), env_id(each.name).lower()):
            return each
    names = [each.name for each in probes()]
    near = get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]}?" if near else f"expected one of {', '.join(names)}"
    raise ProbeError(f"no probe called {name}: {hint}")


def below(name: str) -> tuple[str, ...]:
    """The rungs it stands on, nearest first."""
    found: list[str] = []
    after = find(name).after
    while after is not None:
        found.append(after)
        after = find(after).after
    return tuple(found)


def env_id(name: str) -> str:
    """constant-reward -> rldebug/ConstantReward-v0"""
    return f"rldebug/{''.join(part.capitalize() for part in name.replace('_', '-').split('-'))}-v0"


def make_probe(
    probe: str, *, gamma: float = 0.99, obs: str | None = None, action: str | None = None, **more: Any
) -> ProbeEnv:
    """What `gymnasium.make("rldebug/…")` calls. In a script that `rldebug probe` started, what is played is kept."""
    told = outside.told()
    if told is not None:
        probed = find(probe)(told["gamma"])
        return outside.RecordedEnv(probed, Path(told["folder"]), obs=told["obs"], action=told["action"])
    return ProbeEnv(find(probe)(gamma), obs=obs, action=action, **more)


def register() -> None:
    """Tell Gymnasium of every probe that it does not know: `import rldebug.probes` does that.

    So does `gymnasium.make("rldebug.probes:rldebug/…")`, which needs no import.
    """
    import gymnasium as gym

    envs = importlib.import_module("rldebug.probes.envs")
    for info in pkgutil.iter_modules(envs.__path__):  # by their file names alone: importing thirty files takes time
        name = info.name.replace("_", "-")
        if env_id(name) in gym.registry:
            continue
        gym.register(
            env_id(name),
            entry_point="rldebug.probes.shelf:make_probe",
            kwargs={"probe": name},
            disable_env_checker=True,
            order_enforce=False,
        )
