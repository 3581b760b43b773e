"""Graphs of small programs, written to disk and read again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn
from torch.optim import Adam, Optimizer

from rldebug.diagnose import diagnose
from rldebug.evidence.graph import Graph
from rldebug.evidence.graphs.collect import graph_of
from rldebug.evidence.graphs.walk import walk
from rldebug.finding import Finding
from rldebug.rule import Rule
from tests.judge import fires


def drawn(
    losses: Tensor | Mapping[str, Tensor],
    optimizers: Mapping[str, Optimizer] | None = None,
    **modules: nn.Module | Tensor,
) -> Graph:
    named = losses if isinstance(losses, Mapping) else {"loss": losses}
    return read_again(graph_of(walk(named), modules, optimizers or {}))


def read_again(graph: Graph) -> Graph:
    return Graph.from_dict(json.loads(json.dumps(graph.to_dict())))


def names(rule: Rule, graph: Graph) -> Finding:
    """The rule fires, and no other that finds more than a note does."""
    finding = fires(rule, graph)
    report = diagnose([graph])
    assert not report.broken
    assert {each.code for each in report.findings if each.severity != "note"} <= {rule.code}
    return finding


def mlp(inputs: int, outputs: int, hidden: int = 16) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, hidden), nn.Tanh(), nn.Linear(hidden, outputs))


def adam(*modules: nn.Module | Tensor) -> Any:
    return Adam([one for each in modules for one in (each.parameters() if isinstance(each, nn.Module) else [each])])
