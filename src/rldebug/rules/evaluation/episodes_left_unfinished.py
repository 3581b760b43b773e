"""The evaluation leaves its episodes before they end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.worlds import Stream, evaluation_calls, evaluation_streams, fact, name_of, training_streams
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EpisodesLeftUnfinished(Rule):
    """The evaluation leaves its episodes before they end.

    ## What it checks
    Environments that are only played, with a network, after learning has begun: how many of their resets come before
    the episode ended, and after how many steps. Beside them the environment that is learned from: there episodes are
    played to the end, and go on for longer than that.

    ## Why it matters
    The score is a part of a return. What the policy does late in an episode, where most of the reward may lie, is not
    measured, and the figure cannot be compared with that of training.

    ## Likely causes
    1. The loop of the evaluation counts steps, and not to the limit of the environment. Confirm: print the length of
       each episode of the evaluation.
    2. It leaves the loop at the first reward, or with a `break` that belongs to another loop. Confirm: the same.

    ## What to try first
    Play until the environment says that the episode is over.

    ## When it is fine
    Evaluations are cut short on purpose, to save time.

    ## References
    Henderson et al., *Deep Reinforcement Learning that Matters*.
    """

    code: ClassVar[str] = "EVA364"
    name: ClassVar[str] = "episodes-left-unfinished"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "evaluation"

    begun: int = 5  # episodes of the evaluation
    left: float = 0.75  # share of them that were left; an environment that is reset twice each time leaves half
    finished: float = 0.9  # share of the episodes of training that are played to the end
    longer: float = 1.2  # episodes of training against those that were left

    def check(self, evidence: Script) -> Iterator[Finding]:
        chosen = evaluation_streams(evidence)
        asked = {
            int(call.audit.nodes.stream[call.places[call.known][0]]): call.event.where
            for call in evaluation_calls(evidence)
        }
        played = [each for each in evidence.streams if int(each["index"]) in chosen and int(each["index"]) in asked]
        played = [each for each in played if int(each.get("resets") or 0) >= self.begun]
        if not played:
            raise NotEnough(f"no environment was evaluated in for {self.begun} episodes")
        usual = self._usual(evidence)
        if usual is None:
            raise NotEnough(f"{self.begun} whole episodes of training were not seen")
        for stream in played:
            resets, ends, steps = (int(stream.get(name) or 0) for name in ("resets", "episodes", "steps"))
            # More than one lane: the others are left where they are once enough episodes have ended.
            if int(stream.get("lanes") or 1) != 1 or fact(stream, "resets_itself"):
                continue
            if ends > (1 - self.left) * resets or usual <= self.longer * steps / resets:
                continue
            yield self.finding(
                "the evaluation leaves its episodes before they end",
                where=asked[int(stream["index"])],
                seen=f"{resets - ends} of {resets} episodes of {name_of(stream)} were left unfinished, after "
                f"{steps / resets:.0f} steps; in training they end after {usual:.0f}",
                expected="episodes that are played to the end",
                help="play until the environment says that the episode is over",
                confidence=0.8,
            )
            return

    def _usual(self, script: Script) -> float | None:
        """Length of an episode of training, where those are played to the end."""
        streams = [each for each in training_streams(script) if _whole(each, self.finished)]
        lengths = [float(length) for each in streams for length in list(each.get("lengths") or ())]
        return median(lengths[len(lengths) // 2 :]) if len(lengths) >= self.begun else None


def _whole(stream: Stream, share: float) -> bool:
    lanes, resets = int(stream.get("lanes") or 1), int(stream.get("resets") or 0)
    return lanes > 1 or int(stream.get("episodes") or 0) >= share * (resets - 1)
