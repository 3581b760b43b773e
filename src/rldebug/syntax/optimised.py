"""Which networks an optimizer is given, and how networks are told apart."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import lru_cache

from rldebug.evidence.source import Source
from rldebug.syntax.flow import held
from rldebug.syntax.kinds import kind
from rldebug.syntax.names import argument, dotted, library, method, receiver
from rldebug.syntax.places import calls, class_of

_DEEPEST = 4


def key(source: Source, network: ast.expr) -> str:
    """What a network is called: `Agent:self.net`, `net`; empty for what has no name."""
    name = dotted(network)
    owner = class_of(source, network)
    return f"{owner.name}:{name}" if owner is not None and name.startswith("self.") else name


@lru_cache(maxsize=512)
def optimised(source: Source) -> Sequence[tuple[ast.Call, tuple[ast.expr, ...]]]:
    """Optimizers that are made, each with the networks whose parameters() it is given."""
    found = []
    for call in calls(source):
        given = argument(call, 0, "params")
        if given is not None and library(source, call).startswith("torch.optim.") and kind(source, call) == "optimizer":
            found.append((call, tuple(_networks(source, given, _DEEPEST))))
    return found


def _networks(source: Source, given: ast.expr, depth: int) -> list[ast.expr]:
    found: list[ast.expr] = []
    for each in ast.walk(given):
        if isinstance(each, ast.Call) and method(each) in ("parameters", "named_parameters"):
            network = receiver(each)
            if network is not None and dotted(network):
                found.append(network)
        elif isinstance(each, ast.Name) and depth > 0:
            found += [one for value, _ in held(source, each) for one in _networks(source, value, depth - 1)]
    return found
