"""The evaluation counts rewards that are normalised by running statistics."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.worlds import Stream, evaluation_streams, fact, name_of, wrappers
from rldebug.rule import NotEnough, Rule

_COUNTING = ("RecordEpisodeStatistics", "Monitor", "VecMonitor")


@dataclass(frozen=True, kw_only=True)
class EvaluationRewardNormalised(Rule):
    """The evaluation is scored with normalised rewards.

    ## What it checks
    The wrappers of environments that are played and never learned from: one of them divides rewards by a running
    spread, and nothing further inside counts the returns.

    ## Why it matters
    The reported score is on a scale of its own, which moves with the policy: it cannot be compared with anything, not
    even with the evaluation before.

    ## Likely causes
    1. The evaluation uses the same function to make its environment. Confirm: print the environment.
    2. Reward normalisation of a vector is left on. Confirm: print `norm_reward`.

    ## What to try first
    Normalise rewards in training only; in the evaluation, count what the environment itself gives.

    ## When it is fine
    The returns are taken from a wrapper that lies further inside, such as `RecordEpisodeStatistics` or `Monitor`: then
    it is a note.

    ## References
    Stable-Baselines3 documentation, *VecNormalize* (`norm_reward = False` for testing).
    """

    code: ClassVar[str] = "EVA305"
    name: ClassVar[str] = "evaluation-reward-normalised"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "evaluation"

    steps: int = 20  # of the evaluation

    def check(self, evidence: Script) -> Iterator[Finding]:
        chosen = evaluation_streams(evidence)
        streams = [
            each for each in evidence.streams if int(each["index"]) in chosen and int(each["steps"]) > self.steps
        ]
        if not streams:
            raise NotEnough("no evaluation in an environment of its own was seen")
        for stream in streams:
            place = _normalises(stream)
            if place is None:
                continue
            names = wrappers(stream)
            counted = any(each in _COUNTING for each in names[place:])
            yield self.finding(
                "the evaluation is scored with normalised rewards",
                seen=f"{names[place]} is around {name_of(stream)}, in which {stream['steps']} steps were played and "
                "nothing was learned",
                expected="the environment's own rewards in the evaluation",
                help="leave reward normalisation out of the evaluation (VecNormalize: norm_reward = False)",
                confidence=0.85,
                severity="note" if counted else None,
            )
            return


def _normalises(stream: Stream) -> int | None:
    """The place of the wrapper that does."""
    names = wrappers(stream)
    for place, name in enumerate(names):
        if name == "NormalizeReward" or (name == "VecNormalize" and fact(stream, "norm_reward") is True):
            return place
    return None
