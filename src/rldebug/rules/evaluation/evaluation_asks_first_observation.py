"""In the evaluation the network is asked about the same observation again and again, while the environment goes on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Nodes, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.batches import Call, calls_of
from rldebug.forensics.roles import roles_of
from rldebug.forensics.worlds import evaluation_streams
from rldebug.rule import NotEnough, Rule

_PRINT = 4  # the column with the fingerprint of an observation


@dataclass(frozen=True, kw_only=True)
class EvaluationAsksFirstObservation(Rule):
    """The evaluation asks about the first observation in every step.

    ## What it checks
    What a trained network is given in environments that are played and never learned from. It is given the same
    observations as in the call before, though the environments were stepped in between and showed others.

    ## Why it matters
    The action of the first observation is repeated to the end. The score says nothing of what was learned.

    ## Likely causes
    1. What `step()` returns first has another name than what the network is given. Confirm: print the observation
       that the network gets in two steps.

    ## What to try first
    `obs, reward, terminated, truncated, info = env.step(action)` in the loop of the evaluation.

    ## When it is fine
    A bandit shows the same in every step, and is not meant.

    ## References
    Gymnasium, *Basic usage*: the loop.
    """

    code: ClassVar[str] = "EVA456"
    name: ClassVar[str] = "evaluation-asks-first-observation"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "evaluation"

    asked: int = 12  # times, after a step that showed something else
    share: float = 0.95  # of them with the observations of the call before

    def check(self, evidence: Script) -> Iterator[Finding]:
        chosen, roles = evaluation_streams(evidence), roles_of(evidence)
        before: dict[tuple[int, str, int], Call] = {}
        asked = same = 0
        first: Call | None = None
        for call in calls_of(evidence):
            if call.event["grad"] or call.at is None or call.module not in roles.q | roles.policy:
                continue
            places = call.places
            if not len(places) or (places < 0).any():
                continue
            if not np.isin(call.audit.nodes.stream[places], list(chosen)).all():
                continue
            key = (call.audit.number, call.module, len(places))
            last, before[key] = before.get(key), call
            if last is None or last.update != call.update or last.at == call.at:
                continue
            if not _moved(call.audit.nodes, last.places, int(call.at) - int(last.at or 0)):
                continue
            asked += 1
            if np.array_equal(_prints(last), _prints(call)):
                same += 1
                first = first or call
        if asked < self.asked:
            raise NotEnough(f"a network was asked {asked} times amid an evaluation, needs {self.asked}")
        if first is None or same < self.share * asked:
            return
        yield self.finding(
            "the evaluation asks about the same observation in every step",
            where=first.event.where,
            seen=f"{first.module} is given the observations of the call before in {same} of {asked} calls, and the "
            "environment has shown others since",
            expected="the observation that the last step returned",
            help="give the network what step() returned: obs, reward, … = env.step(action)",
            confidence=0.93,
        )


def _prints(call: Call) -> NDArray[np.float64]:
    """Of what was asked about: observations that are equal are one and the same here."""
    return np.asarray(call.audit.nodes.obs_stats[call.places, _PRINT])


def _moved(nodes: Nodes, places: NDArray[np.int64], calls: int) -> bool:
    """Whether some environment has shown something else after the observations that were asked about."""
    for place in places:
        later = (nodes.stream == nodes.stream[place]) & (nodes.call > nodes.call[place])
        if calls > 0 and (nodes.obs_stats[later, _PRINT] != nodes.obs_stats[place, _PRINT]).any():
            return True
    return False
