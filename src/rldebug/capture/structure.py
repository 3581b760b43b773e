"""What does not change from update to update: who owns which parameter, and which loss reaches it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor, nn

from rldebug.capture.loss_graph import reached

_LISTED = 16  # names that are worth printing; the counts cover the rest


def audit_parameters(
    modules: Mapping[str, nn.Module], optimizers: Mapping[str, Sequence[Tensor]], names: Mapping[int, str]
) -> dict[str, Any]:
    """How many parameters each optimizer owns, by module; overlap and omission by name.

    The fingerprint of what no watched optimizer owns shows whether somebody else trains it.
    """
    owners: dict[int, list[str]] = {}
    for optimizer, parameters in optimizers.items():
        for each in parameters:
            owners.setdefault(id(each), []).append(optimizer)
    members = {key: {id(each) for each in module.parameters()} for key, module in modules.items()}
    known = set().union(*members.values())
    twice = [each for each, who in owners.items() if len(who) > 1]
    return {
        "modules": {key: _audit_module(module, owners, list(optimizers), names) for key, module in modules.items()},
        "twice": [names.get(each, "?") for each in twice][:_LISTED],
        "twice_owners": sorted({name for each in twice for name in owners[each]}),
        "alone": {
            name: sum(each.numel() for each in parameters if len(owners[id(each)]) == 1)
            for name, parameters in optimizers.items()
        },
        "shared": len(members.get("policy", set()) & members.get("critic", set())),
        "foreign": sum(each.numel() for owned in optimizers.values() for each in owned if id(each) not in known),
    }


def _audit_module(
    module: nn.Module, owners: Mapping[int, list[str]], optimizers: list[str], names: Mapping[int, str]
) -> dict[str, Any]:
    parameters = list(module.parameters())
    trainable = [each for each in parameters if each.requires_grad]
    unowned = [each for each in trainable if id(each) not in owners]
    return {
        "numel": sum(each.numel() for each in parameters),
        "trainable": sum(each.numel() for each in trainable),
        "frozen": [names[id(each)] for each in parameters if not each.requires_grad][:_LISTED],
        "unowned": [names[id(each)] for each in unowned][:_LISTED],
        "unowned_numel": sum(each.numel() for each in unowned),
        "unowned_fingerprint": float(sum(each.detach().float().norm() for each in unowned)) if unowned else 0.0,
        "owners": {
            name: sum(each.numel() for each in parameters if name in owners.get(id(each), ())) for name in optimizers
        },
    }


def reach_of_losses(
    losses: Mapping[str, Tensor], modules: Mapping[str, nn.Module], names: Mapping[int, str]
) -> dict[str, dict[str, Any]]:
    """For each loss that carries a graph, how many parameter tensors of each module it reaches, and which it misses."""
    found: dict[str, dict[str, Any]] = {}
    for loss_name, loss in losses.items():
        hit = reached(loss, names)
        if hit is None:
            continue
        found[loss_name] = {}
        for key, module in modules.items():
            trainable = [names[id(each)] for each in module.parameters() if each.requires_grad]
            missing = [name for name in trainable if name not in hit]
            found[loss_name][key] = {
                "reached": len(trainable) - len(missing),
                "of": len(trainable),
                "missing": missing[:_LISTED],
            }
    return found


def shapes_of(given: Mapping[str, Any]) -> dict[str, list[int]]:
    """The shapes as the user has them, before they are flattened."""
    return {
        name: list(each.shape)
        for name, each in given.items()
        if name != "loss" and isinstance(getattr(each, "shape", None), tuple)
    }
