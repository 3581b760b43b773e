"""Which packages are installed, whether they fit one another by their own account, and what hides them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from importlib.metadata import Distribution, distributions
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from rldebug.evidence.machine import Conflict, Package

KNOWN = (
    "torch",
    "numpy",
    "gymnasium",
    "gym",
    "ale-py",
    "mujoco",
    "box2d",
    "box2d-py",
    "pygame",
    "pygame-ce",
    "stable-baselines3",
    "sb3-contrib",
    "tensordict",
    "torchrl",
    "tianshou",
    "cleanrl",
    "ray",
    "pettingzoo",
    "shimmy",
    "minigrid",
    "dm-control",
    "jax",
    "tensorflow",
    "numba",
    "scipy",
    "pandas",
    "matplotlib",
    "opencv-python",
    "opencv-python-headless",
    "opencv-contrib-python",
    "wandb",
    "tensorboard",
    "triton",
)
"""Distributions that are looked for; those that are not there are no fault."""


def read_packages(path: Sequence[str] | None = None) -> tuple[Package, ...]:
    """In the order of KNOWN. The first on the path is the one that is imported."""
    found: dict[str, list[tuple[str, str]]] = {}
    for each in _installed(path):
        copies = found.setdefault(canonicalize_name(each.metadata["Name"]), [])
        copy = (each.version, _folder(each))
        if copy not in copies:
            copies.append(copy)
    return tuple(
        Package(name, *found[name][0], hidden=tuple(f"{version} in {folder}" for version, folder in found[name][1:]))
        for name in KNOWN
        if name in found
    )


def read_conflicts(packages: Iterable[Package], path: Sequence[str] | None = None) -> tuple[Conflict, ...]:
    """Versions that one of `packages` rules out for another distribution that is installed."""
    there: dict[str, Distribution] = {}
    for each in _installed(path):
        there.setdefault(canonicalize_name(each.metadata["Name"]), each)
    found = []
    for package in packages:
        for text in there[package.name].requires or ():
            needs = _requirement(text)
            other = there.get(canonicalize_name(needs.name)) if needs else None
            if needs is None or other is None or _meets(other.version, needs):
                continue
            if needs.marker is None or needs.marker.evaluate({"extra": ""}):
                wanted = f"{needs.name}{needs.specifier}"
                found.append(Conflict(package.name, package.version, wanted, needs.name, other.version))
    return tuple(found)


def read_hiding(folder: Path, modules: Iterable[str]) -> tuple[str, ...]:
    """Files and packages of a folder that a script beside them would import in place of `modules`."""
    hidden = []
    for name in sorted(set(modules)):
        if (folder / f"{name}.py").is_file():
            hidden.append(f"{name}.py")
        elif (folder / name / "__init__.py").is_file():  # a folder without one gives way to what is installed
            hidden.append(f"{name}{os.sep}")
    return tuple(hidden)


def _installed(path: Sequence[str] | None) -> Iterable[Distribution]:
    every = distributions() if path is None else distributions(path=list(path))
    return (each for each in every if each.metadata is not None and each.metadata["Name"])


def _folder(found: Distribution) -> str:
    return str(found.locate_file(""))


def _requirement(text: str) -> Requirement | None:
    try:
        return Requirement(text)
    except InvalidRequirement:
        return None


def _meets(version: str, needs: Requirement) -> bool:
    try:
        return needs.specifier.contains(Version(version), prereleases=True)
    except InvalidVersion:
        return True
