"""Whether the time is among the observations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Script

_STEPS = 40
_RELATED = 0.98  # correlation with the number of the step


def time_is_seen(script: Script, stream: int) -> bool:
    """The steps of an episode follow from the observation: from an element, or from all together, as they do from the
    number of pieces on a board. True also where it is not known."""
    steps, seen = [], []
    by_itself = any(int(each["index"]) == stream and each.get("autoreset") == "same-step" for each in script.streams)
    for audit in script.audits:
        nodes = audit.nodes
        if not nodes.obs.shape[1]:
            return True
        for lane in np.unique(nodes.lane[nodes.stream == stream]):
            at = np.flatnonzero((nodes.stream == stream) & (nodes.lane == lane))
            since = -1
            # An environment that resets itself within step() hands out no first observation of its own; what others
            # hand out at the end is still of the old episode.
            ended = (nodes.terminated | nodes.truncated) & ((nodes.nxt != nodes.succ) | by_itself)
            begins = set(nodes.index(nodes.succ[at[ended[at]]]).tolist())
            for place in at.tolist():
                # Batches that restart themselves are often begun in the middle, each lane elsewhere.
                begun = place in begins or (bool(nodes.first[place]) and not by_itself)
                since = 0 if begun else since + 1 if since >= 0 and not nodes.first[place] else -1
                if since >= 0 and np.isfinite(nodes.obs[place]).all():
                    steps.append(since)
                    seen.append(nodes.obs[place])
    if len(steps) < _STEPS:
        return True
    x, y = np.array(steps, dtype=np.float64), np.array(seen, dtype=np.float64)
    spread = y.std(axis=0)
    related = np.abs(((x - x.mean())[:, None] * (y - y.mean(axis=0))).mean(axis=0)) / np.where(
        spread > 0, spread * max(float(x.std()), 1e-9), np.inf
    )
    return bool((related > _RELATED).any()) or _follows(x, y)


def _follows(steps: NDArray[np.float64], seen: NDArray[np.float64]) -> bool:
    columns = np.column_stack([np.ones(len(seen)), seen, np.abs(seen)])
    if len(steps) < 4 * columns.shape[1] or not steps.var():
        return False
    left = steps - columns @ np.linalg.lstsq(columns, steps, rcond=None)[0]
    return bool(left.var() < (1 - _RELATED**2) * steps.var())
