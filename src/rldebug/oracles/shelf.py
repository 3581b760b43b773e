"""The components there are oracles for: a file in components/ that holds an Oracle is one."""

from __future__ import annotations

import importlib
import pkgutil
from difflib import get_close_matches
from functools import lru_cache

from rldebug.oracles import components
from rldebug.oracles.names import plain
from rldebug.oracles.oracle import Oracle
from rldebug.target import TargetError


@lru_cache(maxsize=1)
def oracles() -> tuple[Oracle, ...]:
    """All, by name."""
    found = []
    for info in pkgutil.iter_modules(components.__path__, f"{components.__name__}."):
        module = importlib.import_module(info.name)
        found += [each for each in vars(module).values() if isinstance(each, Oracle)]
    return tuple(sorted({each.name: each for each in found}.values(), key=lambda each: each.name))


def find(name: str) -> Oracle:
    """By its name or another one it goes by; raises TargetError with the nearest."""
    wanted = plain(name.strip()).replace("_", "-")
    for oracle in oracles():
        if wanted == oracle.name or wanted in oracle.aliases.split():
            return oracle
    every = [word for each in oracles() for word in (each.name, *each.aliases.split())]
    near = get_close_matches(wanted, every, n=2, cutoff=0.5)
    hint = f", did you mean {' or '.join(near)}?" if near else "."
    raise TargetError(f"no component called {name!r}{hint} `rldebug verify --list` names them all")
