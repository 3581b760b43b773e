"""Whether observations are changed on their way into the network: in training, and where the program only plays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Event, Script
from rldebug.forensics.batches import calls_of
from rldebug.forensics.worlds import evaluation_streams

_SAME = 1e-4
_LINE = 0.92  # correlation; statistics that still settle move the line
_OFTEN = 0.1  # elements at a bound, for one row


@dataclass(frozen=True, eq=False)
class Given:
    """Observations, and what a network was given for them, row by row."""

    module: str
    event: Event
    obs: NDArray[np.float64]
    inputs: NDArray[np.float64]

    @property
    def raw(self) -> float:
        """Share of rows that are given as they were observed, or cut off at a bound that many of them reach."""
        size = _SAME * (1 + np.abs(self.obs))
        equal = np.abs(self.inputs - self.obs) <= size
        low, high = self.inputs.min(), self.inputs.max()
        cut = ((self.inputs == high) & (self.obs > high)) | ((self.inputs == low) & (self.obs < low))
        often = cut.sum() > _OFTEN * len(cut)
        return float((equal | (cut if often else False)).all(axis=1).mean()) if equal.any() else 0.0

    @property
    def mapped(self) -> bool:
        """Whether each element is a straight line of what was observed, another one than itself."""
        x, y = self.obs - self.obs.mean(axis=0), self.inputs - self.inputs.mean(axis=0)
        size = np.sqrt((x * x).sum(axis=0) * (y * y).sum(axis=0))
        moves = size > 1e-9
        related = np.abs((x * y).sum(axis=0)[moves] / size[moves])
        return bool(moves.any()) and float((related > _LINE).mean()) >= 0.5


def given(script: Script) -> tuple[list[Given], list[Given]]:
    """By network: while acting for training, after the first update; and in evaluations.

    In training also what another module made of the observations: one that scales them may be a network of its own.
    """
    played = evaluation_streams(script)
    found: dict[tuple[str, bool], tuple[Event, list[NDArray[np.float64]], list[NDArray[np.float64]]]] = {}
    for call in calls_of(script):
        if not call.event.get("acting") or call.input is None or not call.update:
            continue
        nodes, places = call.audit.nodes, call.places
        if nodes.obs.shape[1] != call.input.shape[1] or len(places) != len(call.input) or (places < 0).any():
            continue
        obs = np.asarray(nodes.obs[places], dtype=np.float64)
        if not np.isfinite(obs).all() or not np.isfinite(call.input).all():
            continue
        key = (call.module, int(nodes.stream[places[0]]) in played)
        if call.event["match"] == "tag" and key[1]:
            continue
        _, many, more = found.setdefault(key, (call.event, [], []))
        many.append(obs)
        more.append(np.asarray(call.input, dtype=np.float64))
    both: tuple[list[Given], list[Given]] = ([], [])
    for (module, evaluation), (event, many, more) in found.items():
        both[evaluation].append(Given(module, event, np.concatenate(many), np.concatenate(more)))
    return both
