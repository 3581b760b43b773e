"""Whom to ask: the means of rldebug on their shelf, and the peers, which are scripts beside the corpus."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from pathlib import Path

from rldebug.benchmark.corpus import CorpusError
from rldebug.benchmark.means.means import Means

RLDEBUG = "rldebug"
_NO_PEER = ("recorder", "__init__")


@cache
def means() -> tuple[Means, ...]:
    package = importlib.import_module("rldebug.benchmark.means")
    names = [info.name for info in pkgutil.iter_modules(package.__path__) if info.name != "means"]
    return tuple(importlib.import_module(f"{package.__name__}.{each}").MEANS for each in names)


def find(name: str) -> Means:
    for each in means():
        if each.name == name:
            return each
    raise CorpusError(f"no means is called {name}: expected {', '.join(each.name for each in means())}")


def peers(corpus: Path) -> dict[str, Path]:
    """The peers beside a corpus, by name."""
    return {
        each.stem.replace("_", "-"): each.resolve()
        for each in sorted((corpus.parent / "peers").glob("*.py"))
        if each.stem not in _NO_PEER
    }


def find_peer(corpus: Path, name: str) -> Path:
    known = peers(corpus)
    if name not in known:
        there = f"{corpus.parent / 'peers'} was looked into"
        raise CorpusError(f"no tool is called {name}: expected {', '.join((RLDEBUG, *known))} ({there})")
    return known[name]
