"""Plants a bug in a reference algorithm and lets it climb: source text → module → something to probe.

A bug is a module of this folder with ALGO, REPLACE and, for a bug in a part, PATCH; or with AGENT and SWITCH for one of
`agents.py`. Nothing global is changed: the planted module has an import of its own, which hands out the planted parts.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import pkgutil
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from rldebug.evidence.ladder import Ladder, Rung
from rldebug.probe import climb_ladder
from rldebug.probes.agent import Target
from rldebug.probes.shelf import below, find, probes
from rldebug.stepwise import target as reference
from tests.planted_algos import agents

HERE = Path(__file__).parent
HELPERS = ("plant", "agents", "returns")
Replacements = Sequence[tuple[str, str]]


def bugs() -> tuple[str, ...]:
    return tuple(sorted(info.name for info in pkgutil.iter_modules([str(HERE)]) if info.name not in HELPERS))


def bug(name: str) -> ModuleType:
    return importlib.import_module(f"tests.planted_algos.{name}")


def planted(algorithm: str, replacements: Replacements, parts: Mapping[str, Replacements]) -> ModuleType:
    """The algorithm's module with its text changed, on parts with their text changed; parts in the order of imports."""
    copies: dict[str, ModuleType] = {}
    for name, changes in parts.items():
        copies[name] = _module(name, changes, dict(copies))
    return _module(f"rldebug.algos.{algorithm}", replacements, copies)


def changed(source: str, replacements: Iterable[tuple[str, str]]) -> str:
    for old, new in replacements:
        assert source.count(old) == 1, f"occurs {source.count(old)} times, expected once:\n{old}"
        source = source.replace(old, new)
    return source


def text_of(name: str) -> str:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).read_text(encoding="utf-8")


def target_of(bug: ModuleType) -> Target:
    if hasattr(bug, "AGENT"):
        return agents.target(bug.AGENT, bug.SWITCH)
    module = planted(bug.ALGO, getattr(bug, "REPLACE", ()), getattr(bug, "PATCH", {}))
    return reference(bug.ALGO, module=module)


def twin_of(bug: ModuleType) -> Target:
    """The same without the bug."""
    if hasattr(bug, "AGENT"):
        return agents.target(bug.AGENT, None)
    return reference(bug.ALGO)


def upto(rung: str) -> tuple[str, ...]:
    """All rungs from the lowest to this one."""
    return tuple(each.name for each in probes() if each.rung <= find(rung).rung)


def way_to(rung: str) -> tuple[str, ...]:
    """This rung, and those it stands on: what has to be passed before it is tried."""
    return (*reversed(below(rung)), rung)


def telling(bug: ModuleType) -> tuple[str, ...]:
    """All rungs up to the one it should fail first, and those by which bugs are told apart."""
    more = [each for rung in ("observed-action-reward", "discount-chain", "interior-optimum") for each in way_to(rung)]
    return tuple(dict.fromkeys((*upto(bug.RUNG), *more)))


def ladder_of(target: Target, names: Iterable[str] | None = None, *, seed: int = 0, jobs: int = 1) -> Ladder:
    """Climb these rungs, or all; rungs that stand on one that failed are not run."""
    return climb_ladder(target, probes=names, seed=seed, jobs=jobs)


def first_trouble(ladder: Ladder) -> Rung | None:
    """The lowest rung that failed, or raised an exception."""
    return next((each for each in ladder.rungs if each.outcome in ("failed", "crashed")), None)


@cache
def _source(name: str) -> str:
    return text_of(name)


def _module(name: str, replacements: Replacements, copies: Mapping[str, ModuleType]) -> ModuleType:
    def give(wanted: str, globals_: Any = None, locals_: Any = None, names: Any = (), level: int = 0) -> Any:
        if wanted in copies and names:
            return copies[wanted]
        return builtins.__import__(wanted, globals_, locals_, names, level)

    importlib.import_module(name)  # dataclasses look up the module of that name, by which this one goes too
    module = ModuleType(name)
    space = vars(module)
    space["__builtins__"] = {**vars(builtins), "__import__": give}
    space["__file__"] = f"<planted {name}>"
    exec(compile(changed(_source(name), replacements), space["__file__"], "exec"), space)
    return module
