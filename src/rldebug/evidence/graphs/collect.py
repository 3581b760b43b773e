"""From losses, modules and optimizers to a Graph."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn
from torch.optim import Optimizer

from rldebug.evidence.graph import Graph, Loss, Parameter
from rldebug.evidence.graphs.fold import fold
from rldebug.evidence.graphs.signs import signs_of
from rldebug.evidence.graphs.units import Units, units_of
from rldebug.evidence.graphs.walk import Walk


def graph_of(
    walked: Walk,
    modules: Mapping[str, nn.Module | Tensor],
    optimizers: Mapping[str, Optimizer],
    lines: Mapping[str, tuple[str, int] | None] | None = None,
) -> Graph:
    units = units_of(walked, modules)
    held = holders(optimizers)
    parameters = _parameters(walked, units, held)
    boxes, arrows = fold(walked, units)
    owners: dict[str, list[str]] = {}
    for each in parameters:
        owners.setdefault(each.unit, []).extend(each.optimizers)
    return Graph(
        losses=tuple(
            Loss(
                name,
                (walked.shapes[root] or ()) if root >= 0 else (),
                sum(mask >> bit & 1 for node, mask in enumerate(units.losses) if node not in walked.leaves),
                (lines or {}).get(name),
            )
            for bit, (name, root) in enumerate(walked.roots.items())
        ),
        parameters=tuple(parameters),
        boxes=tuple(
            dataclasses.replace(each, optimizers=tuple(dict.fromkeys(owners.get(each.title, ()))))
            if each.kind == "module"
            else each
            for each in boxes
        ),
        arrows=tuple(arrows),
        optimizers=tuple(optimizers),
        signs=(*signs_of(walked, units), *_elsewhere(units, optimizers)),
        nodes=len(walked.names) - len(walked.leaves),
        saved=sum(walked.saved),
        freed=walked.freed,
        bounded=walked.bounded,
    )


def holders(optimizers: Mapping[str, Optimizer]) -> dict[int, list[str]]:
    """id() of a parameter -> the optimizers that hold it."""
    held: dict[int, list[str]] = {}
    for name, optimizer in optimizers.items():
        for group in optimizer.param_groups:
            for each in group["params"]:
                held.setdefault(id(each), []).append(name)
    return held


def _parameters(walked: Walk, units: Units, held: Mapping[int, list[str]]) -> list[Parameter]:
    losses = list(walked.roots)
    place = {id(leaf): node for node, leaf in walked.leaves.items()}
    uses = walked.uses()
    found = []
    for item in units.items:
        for name, tensor in zip(item.names, item.tensors, strict=True):
            node = place.get(id(tensor), -1)
            mask = units.losses[node] if node >= 0 else 0
            found.append(
                Parameter(
                    name,
                    units.modules[item.unit],
                    units.names[item.unit],
                    tuple(tensor.shape),
                    tensor.requires_grad,
                    tuple(each for bit, each in enumerate(losses) if mask >> bit & 1),
                    tuple(held.get(id(tensor), ())),
                    uses.get(node, 0),
                )
            )
    return found


def _elsewhere(units: Units, optimizers: Mapping[str, Optimizer]) -> list[dict[str, Any]]:
    """Parameters of optimizers that are in no module, and in no loss."""
    known = {id(tensor) for item in units.items for tensor in item.tensors}
    found: list[dict[str, Any]] = []
    for name, optimizer in optimizers.items():
        others = [each for group in optimizer.param_groups for each in group["params"] if id(each) not in known]
        if others:
            weights = sum(each.numel() for each in others)
            found.append({"kind": "elsewhere", "optimizer": name, "tensors": len(others), "weights": weights})
    return found
