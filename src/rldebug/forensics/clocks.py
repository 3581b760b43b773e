"""Whether the time is among the observations."""

from __future__ import annotations

import numpy as np

from rldebug.evidence.script import Script

_STEPS = 40
_RELATED = 0.98  # correlation with the number of the step


def time_is_seen(script: Script, stream: int) -> bool:
    """Some element of the observation rises or falls with the steps of an episode; True also where it is not known."""
    steps, seen = [], []
    for audit in script.audits:
        nodes = audit.nodes
        if not nodes.obs.shape[1]:
            return True
        for lane in np.unique(nodes.lane[nodes.stream == stream]):
            at = np.flatnonzero((nodes.stream == stream) & (nodes.lane == lane))
            since = -1
            for place in at:
                since = 0 if nodes.first[place] else since + 1 if since >= 0 else -1
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
    return bool((related > _RELATED).any())
