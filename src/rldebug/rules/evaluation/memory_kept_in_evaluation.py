"""In the evaluation the memory goes on from one episode to the next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.batches import Call, calls_of, recurrent
from rldebug.forensics.node_places import begins
from rldebug.forensics.worlds import evaluation_streams, training_streams
from rldebug.rule import NotEnough, Rule

_Row = tuple[int, int]  # an audit, and an observation in it
_STATE = 4  # numbers that a state has at least: fewer may be an action, or a flag


@dataclass(frozen=True, kw_only=True)
class MemoryKeptInEvaluation(Rule):
    """In the evaluation the memory goes on from one episode to the next.

    ## What it checks
    The state that a recurrent network is given with the first observation of an episode. In training it is empty, or
    there is none; in environments that are only played it is that of the episode before.

    ## Why it matters
    The network was never trained to begin with what it remembers of another episode. Only the first episode of each
    evaluation is played as in training; the score of the others is lower, and depends on their order.

    ## Likely causes
    1. The state is made before the loop over episodes, not inside. Confirm: print its norm where an episode begins.
    2. An object keeps it, and only training tells it to forget. Confirm: the same.

    ## What to try first
    Set the state to zeros wherever the environment is reset, in the evaluation too.

    ## When it is fine
    Never, where training begins each episode with an empty one.

    ## References
    Seen in the wild: the cluster "recurrent state reset" of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "EVA375"
    name: ClassVar[str] = "memory-kept-in-evaluation"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "evaluation"

    episodes: int = 4  # of training, and as many of the evaluation, whose begin was seen
    share: float = 0.5  # of those of the evaluation: the first one of each may well begin empty

    def check(self, evidence: Script) -> Iterator[Finding]:
        played = evaluation_streams(evidence)
        trained = {int(each["index"]) for each in training_streams(evidence)}
        found: dict[str, tuple[dict[_Row, bool], dict[_Row, bool]]] = {}
        where: dict[str, Event] = {}
        for call in calls_of(evidence):
            if not call.event.get("acting") or not recurrent(evidence, call.module):
                continue
            nodes = call.audit.nodes
            for row in np.flatnonzero(call.places >= 0).tolist():
                place = int(call.places[row])
                stream = int(nodes.stream[place])
                # A value may be asked for at the end of a rollout, with whatever state: acted on is what is asked last.
                if stream not in trained | played or not begins(nodes)[place] or not nodes.acted[place]:
                    continue
                remembers = _remembers(call, row)
                if remembers is None:
                    continue
                mine = found.setdefault(call.module, ({}, {}))[stream in played]
                mine[call.audit.number, int(call.rows[row])] = remembers
                if stream in played:
                    where.setdefault(call.module, call.event)
        most = max((min(map(len, each)) for each in found.values()), default=0)
        if most < self.episodes:
            raise NotEnough(f"{most} states that episodes began with, in training and in an evaluation")
        for module, (begun, tested) in found.items():
            kept = sum(tested.values())
            if min(len(begun), len(tested)) < self.episodes or any(begun.values()):
                continue
            if kept < max(self.episodes, self.share * len(tested)):
                continue
            yield self.finding(
                "in the evaluation the memory goes on from one episode to the next",
                where=where[module].where,
                seen=f"a state that is not empty in the first step of {kept} of {len(tested)} episodes of the "
                f"evaluation, and of none of {len(begun)} in training",
                expected="an empty state wherever an episode begins",
                help="set the state to zeros wherever the environment is reset",
                confidence=0.9,
            )
            return


def _remembers(call: Call, row: int) -> bool | None:
    """Whether it is given a state beside the observation that is not all zeros; None where none is seen."""
    states = [each[row] for each in call.more if len(each) == len(call.rows) and each.shape[1] >= _STATE]
    return any(bool(np.abs(each).max() > 0) for each in states) if states else None
