"""Training goes on with an observation from before an evaluation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Nodes, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.batches import Call, ambiguous
from rldebug.forensics.moments import lag, moments_in, moments_of
from rldebug.forensics.roles import roles_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TrainingResumesWithOldObservation(Rule):
    """Training goes on with an observation from before an evaluation.

    ## What it checks
    The environment that is trained in was reset and played for a while, with each newest observation given to the
    network. Then, now and then, the network is asked about an observation from before that reset, all lanes at
    once, and the environment is stepped by the answer. Or it was only reset, in the middle of its episodes.

    ## Why it matters
    The action belongs to a state that is long gone. The transition that is learned leads from one episode into
    another.

    ## Likely causes
    1. The evaluation plays the training environment and leaves it in another state. Confirm: `eval_env is env`, or
       `evaluate_policy(model, model.get_env())`.
    2. A callback resets the training environment, of which the algorithm is not told: Stable-Baselines3 goes on with
       `model._last_obs`. Confirm: look for `self.training_env.reset()`.

    ## What to try first
    Make an environment of its own for the evaluation.

    ## When it is fine
    Never: the observation must be the newest.

    ## References
    Bug kind EVA-03 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "EVA356"
    name: ClassVar[str] = "training-resumes-with-old-observation"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    follows: ClassVar[tuple[str, ...]] = ("BUF316",)

    lag: int = 8  # env calls since the observation, and more; of episodes that a reset has cut short, one
    times: int = 1  # that this was seen
    asked: float = 0.85  # of the steps, about the newest observation
    rare: float = 0.1  # of all moments at which the network was asked

    def check(self, evidence: Script) -> Iterator[Finding]:
        streams = [each for each in evidence.streams if each["steps"] or each["resets"]]
        main = next((each for each in streams if int(each["index"]) == roles_of(evidence).stream), None)
        if main is None or any(each.get("what") == "thread" for each in evidence.noted("thread")):
            return
        index, lanes = int(main["index"]), int(main["lanes"])
        alone = len(streams) == 1
        current, moments = moments_of(evidence, lanes) if alone else moments_in(evidence, index, lanes)
        if len(current) < 20:
            raise NotEnough(f"the network was seen to act {len(current)} times")
        if alone:
            steps = sum(_steps(each, index) for each in evidence.audits) // lanes
        else:
            steps = sum(
                _steps(each, index, [at for number, at in current if number == each.number]) // lanes
                for each in evidence.audits
            )
        if len(current) < self.asked * steps:
            return  # actions are also drawn at random: then it may be asked about others in between
        old = [calls[0] for moment, calls in moments.items() if moment not in current and self._resumed(calls)]
        if len(old) < self.times or len(old) > self.rare * len(current):
            return
        only_reset = all(lag(each) < self.lag for each in old)
        yield self.finding(
            "training goes on with an observation from before the environment was "
            + ("reset" if only_reset else "played by another loop"),
            where=old[0].event.where,
            seen=f"{len(old)} times an observation that is {lag(old[0])} env calls old, from before a reset",
            expected="the newest observation",
            help="leave the reset to the loop that trains, or hand it the observation of the reset"
            if only_reset
            else "make an environment of its own for the evaluation, or reset when training goes on",
            confidence=0.88,
        )

    def _resumed(self, calls: list[Call]) -> bool:
        """All that is asked for is one old moment, a reset lies in between, and a step is taken on the answer."""
        for call in calls:
            nodes, places = call.audit.nodes, call.places
            if (places < 0).any() or ambiguous(nodes, places).any() or call.at is None:
                return False
            asked = nodes.call[places]
            if (asked != asked[0]).any() or (lag(call) < self.lag and not _cut_short(nodes, places)):
                return False
            between = (nodes.call > asked[0]) & (nodes.call <= call.at)
            if not (nodes.first & between).any() or not nodes.acted[nodes.call == call.at].any():
                return False
        return bool(calls)


def _cut_short(nodes: Nodes, places: NDArray[np.int64]) -> bool:
    """No step was taken from these observations, and no step that ended an episode led to them."""
    ends = nodes.terminated | nodes.truncated
    return not (nodes.acted[places].any() or np.isin(nodes.id[places], nodes.nxt[ends]).any())


def _steps(audit: Audit, stream: int, moments: Sequence[int] | None = None) -> int:
    """Steps that were taken in an audit, of all lanes; or between the first and the last of some moments."""
    nodes = audit.nodes
    taken = nodes.acted & (nodes.phase >= audit.phase) & (nodes.stream == stream)
    if moments is not None:
        taken &= (nodes.call >= min(moments, default=0)) & (nodes.call <= max(moments, default=-1))
    return int(taken.sum())
