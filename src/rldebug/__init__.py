"""rldebug finds the bug in reinforcement-learning training code written in PyTorch, and names it."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rldebug.attach import Attached as Attached
    from rldebug.attach import attach as attach
    from rldebug.diagnose import diagnose as diagnose
    from rldebug.evidence.run import Run as Run
    from rldebug.evidence.run import read_run as read_run
    from rldebug.explain import explain as explain
    from rldebug.finding import Finding as Finding
    from rldebug.finding import Report as Report
    from rldebug.graph import graph as graph
    from rldebug.handover import HandoverError as HandoverError
    from rldebug.metric import metric as metric
    from rldebug.preprocess import preprocess as preprocess
    from rldebug.probe import probe as probe
    from rldebug.rule import NotEnough as NotEnough
    from rldebug.rule import Rule as Rule
    from rldebug.span import span as span
    from rldebug.train import train as train
    from rldebug.trap import Tripped as Tripped
    from rldebug.verify import verify as verify
    from rldebug.watch import Watch as Watch
    from rldebug.watch import watch as watch

_HOME = {
    "Attached": "rldebug.attach",
    "Finding": "rldebug.finding",
    "HandoverError": "rldebug.handover",
    "NotEnough": "rldebug.rule",
    "Report": "rldebug.finding",
    "Rule": "rldebug.rule",
    "Run": "rldebug.evidence.run",
    "Tripped": "rldebug.trap",
    "Watch": "rldebug.watch",
    "attach": "rldebug.attach",
    "diagnose": "rldebug.diagnose",
    "explain": "rldebug.explain",
    "graph": "rldebug.graph",
    "metric": "rldebug.metric",
    "preprocess": "rldebug.preprocess",
    "probe": "rldebug.probe",
    "read_run": "rldebug.evidence.run",
    "span": "rldebug.span",
    "train": "rldebug.train",
    "verify": "rldebug.verify",
    "watch": "rldebug.watch",
}

__all__ = sorted(_HOME)
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Public names are imported when first used: `rldebug --help` must not wait for torch."""
    if name not in _HOME:
        raise AttributeError(f"module 'rldebug' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


class _Package(ModuleType):
    """Keeps `rldebug.watch` the function: importing a submodule would put the module of that name in its place."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, getattr(value, name) if name in _HOME and isinstance(value, ModuleType) else value)


sys.modules[__name__].__class__ = _Package


def load_ipython_extension(shell: Any) -> None:
    """%load_ext rldebug: every later cell that fails is explained, and %rldebug and %%rldebug watch training."""
    importlib.import_module("rldebug.notebook").load(shell)


def unload_ipython_extension(shell: Any) -> None:
    importlib.import_module("rldebug.notebook").unload(shell)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
