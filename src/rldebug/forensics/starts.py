"""Starts: how episodes begin, beside how the ones before them ended and how they go on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Script
from rldebug.forensics.worlds import fact

Array = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Start:
    """An observation that a reset returned."""

    obs: Array
    before: Array | None  # the last one of the episode before
    terminated: bool  # that episode was not cut off
    after: Array | None  # what the first step led to
    action: bytes


def starts_of(script: Script, stream: int) -> list[Start]:
    """Those seen in audits whose observations are narrow, and remembered."""
    if any(int(each["index"]) == stream and fact(each, "resets_itself") for each in script.streams):
        return []
    found: dict[int, Start] = {}
    for audit in script.audits:
        nodes = audit.nodes
        if not nodes.obs.shape[1]:
            continue
        ends = np.flatnonzero(nodes.terminated | nodes.truncated).tolist()
        ended = {int(nodes.succ[each]): each for each in ends}
        finals = {int(nodes.succ[each]): each for each in np.flatnonzero(~nodes.acted & (nodes.succ >= 0)).tolist()}
        for place in np.flatnonzero((nodes.stream == stream) & nodes.first).tolist():
            obs, id = nodes.obs[place], int(nodes.id[place])
            if np.isnan(obs).any() or not nodes.acted[place]:
                continue
            end, final = ended.get(id), finals.get(id)
            if final is None and end is not None:
                final = int(nodes.index(nodes.nxt[end : end + 1])[0])
            if end is None and final is not None:
                end = next((each for each in ends if nodes.nxt[each] == nodes.id[final]), None)
            last = nodes.obs[final] if final is not None and final >= 0 and final != place else None
            reached = int(nodes.index(nodes.nxt[place : place + 1])[0])
            over = bool(nodes.terminated[place] | nodes.truncated[place])
            if last is None and id in found:
                continue  # a later audit that learns from it need not know what came before
            found[id] = Start(
                obs=obs,
                before=None if last is None or np.isnan(last).any() else last,
                terminated=end is not None and bool(nodes.terminated[end]),
                after=None if reached < 0 or over or np.isnan(nodes.obs[reached]).any() else nodes.obs[reached],
                action=nodes.action[place].tobytes(),
            )
    return list(found.values())


def repeated(script: Script, stream: int) -> tuple[int, int]:
    """Of the steps that do not begin an episode: how many led to an equal observation, and how many there were."""
    equal = steps = 0
    for audit in script.audits:
        nodes = audit.nodes
        if not nodes.obs.shape[1]:
            continue
        places = np.flatnonzero((nodes.stream == stream) & nodes.acted & ~nodes.first & ~nodes.phantom)
        reached = nodes.index(nodes.nxt[places])
        places, reached = places[reached >= 0], reached[reached >= 0]
        known = ~np.isnan(nodes.obs[places]).any(axis=1) & ~np.isnan(nodes.obs[reached]).any(axis=1)
        equal += int((nodes.obs[places] == nodes.obs[reached]).all(axis=1)[known].sum())
        steps += int(known.sum())
    return equal, steps
