"""What a distribution refused: the parameter by its name and the line that made it; and the optimizers, with the lines
that made them.
"""

from __future__ import annotations

import ast
from typing import Any

from rldebug.evidence.crashes.facts import Fact, is_tensor
from rldebug.evidence.crashes.made import returned
from rldebug.evidence.crashes.named import Named, optimizers
from rldebug.evidence.crashes.scene import Scene
from rldebug.evidence.crashes.source import Place, called, latest, line_told
from rldebug.syntax.names import dotted

ABOUT_REFUSED = ("Expected parameter ", "probability tensor contains", "invalid multinomial", "robabilities")
_DEEP = 3


def refused_facts(scene: Scene) -> Fact:
    facts: Fact = {"fault": "refused", "optimizers": _optimizers(scene)}
    value = _refused(scene)
    aliases = scene.aliases.get(id(value), []) if value is not None else []
    for alias in aliases[:1]:
        facts["name"] = alias.path
        if (line := _origin(scene, alias)) is not None:
            facts["made"] = line
    return facts


def _optimizers(scene: Scene) -> list[Fact]:
    told: list[Fact] = []
    seen: set[int] = set()
    for each in optimizers(scene.named):
        if id(each.value) in seen:
            continue
        seen.add(id(each.value))
        known = scene.made([each])
        rates = [float(group["lr"]) for group in each.value.param_groups if isinstance(group.get("lr"), int | float)]
        if known is not None:
            told.append({"name": each.path, "lr": rates[:4], **line_told(known[1].place, known[1].node)})
    return told[:8]


def _refused(scene: Scene) -> Any:
    """The tensor that the user gave: a distribution's constructor has it under the parameter's own name."""
    parameter = scene.message.partition("Expected parameter ")[2].partition(" ")[0]
    for frame in scene.frames:
        if str(frame.f_globals.get("__name__", "")).startswith("torch.distributions."):
            value = frame.f_locals.get(parameter) if parameter else None
            if is_tensor(value):
                return value
    return None


def _origin(scene: Scene, alias: Named) -> Fact | None:
    """The statement that computed it; inside of the user's own functions that gave it."""
    place = scene.places.get(id(alias.frame))
    if place is None or alias.holder or alias.owner is not None:
        return None
    return made_inside(place, alias.path)


def made_inside(place: Place, name: str, deep: int = _DEEP) -> Fact | None:
    """`sigma = self.sigma(x)` in forward(), for `mu, sigma = self.forward(s)`."""
    binding = latest(place, name)
    if binding is None or isinstance(binding.statement, ast.For | ast.AsyncFor):
        return None
    callee = called(place, binding.value) if isinstance(binding.value, ast.Call) and deep else None
    given = list(returned(callee, binding.part)) if callee is not None else []
    if callee is not None and len(given) == 1:
        inner = made_inside(callee, dotted(given[0]), deep - 1) if isinstance(given[0], ast.Name) else None
        return inner or line_told(callee, given[0])
    return line_told(place, binding.statement)
