"""What was chosen where the program only plays: the action with the highest score, or another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Event, Script
from rldebug.forensics.roles import roles_of
from rldebug.forensics.worlds import evaluation_calls, fact


@dataclass(frozen=True, eq=False)
class Chosen:
    event: Event
    best: NDArray[np.bool_]  # for each step, whether the highest score was taken


def chosen_in_evaluations(script: Script) -> dict[int, Chosen]:
    """By environment. Only discrete actions of the network whose scores are of as many actions as were ever taken."""
    found: dict[int, tuple[Event, list[bool]]] = {}
    roles = roles_of(script)
    for call in evaluation_calls(script):
        output, orders = call.event.arrays.get("output0"), call.event.arrays.get("orders")
        if output is None or output.ndim != 2 or output.shape[1] < 2 or call.audit.nodes.action.shape[1] != 1:
            continue
        if roles.policy and not any(_made_alike(script, call.module, each) for each in roles.policy):
            continue
        mine = np.ones(len(output), bool) if orders is None or len(orders) != len(output) else orders == call.order
        rows, said = call.rows, output[mine]
        if len(rows) != len(said):
            continue
        places = call.audit.nodes.index(rows)
        if _number_of_actions(script, int(call.audit.nodes.stream[places[0]])) != said.shape[1]:
            continue  # features, inside of the network
        for place, scores in zip(places, said, strict=True):
            if place < 0 or not call.audit.nodes.acted[place] or call.audit.nodes.phantom[place]:
                continue
            action = call.audit.nodes.action[place, 0]
            if not np.isfinite(action) or not 0 <= action < len(scores) or np.ptp(scores) == 0:
                continue
            stream = int(call.audit.nodes.stream[place])
            found.setdefault(stream, (call.event, []))[1].append(bool(scores[int(action)] >= scores.max()))
    return {stream: Chosen(event, np.array(best)) for stream, (event, best) in found.items()}


def _made_alike(script: Script, module: str, policy: str) -> bool:
    """Whether it is the policy, a part of it, or another network of the same make: loaded from a file to be played."""
    one = script.modules.get(module)
    if one is None:
        return module in policy or module.partition("-")[2].isdigit()  # made when all was told: only its number is new
    root = str(one.get("inside") or module)
    one, other = script.modules.get(root), script.modules.get(policy)
    made = ("class", "parameters", "trainable", "layers", "last")
    return root in policy or (one is not None and other is not None and all(one.get(k) == other.get(k) for k in made))


def _number_of_actions(script: Script, stream: int) -> int | None:
    number = next((fact(each, "action_n") for each in script.streams if int(each["index"]) == stream), None)
    return None if number is None else int(number)
