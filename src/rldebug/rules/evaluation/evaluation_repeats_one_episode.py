"""An evaluation over several episodes plays one and the same episode."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.worlds import Stream, fact, name_of, training_streams
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EvaluationRepeatsOneEpisode(Rule):
    """An evaluation over several episodes plays one and the same episode.

    ## What it checks
    Beside the environment that is trained in another of the same class. With the same weights several episodes are
    played there, one after the other, each begun with the same seed; and all have the same return and the same length.
    The environment that is trained in begins in several ways, so the seed makes a difference.

    ## Why it matters
    The mean over n episodes is the return of one: it depends on that one start, as chance would have it, and says
    nothing of the others. The best model is chosen by it.

    ## Likely causes
    1. `reset(seed=seed)` in the loop over episodes. Confirm: print the return of each episode.
    2. The environment is made anew for each episode, and seeded with the same number. Confirm: the same.

    ## What to try first
    `reset(seed=seed + episode)`, or a seed at the first reset only.

    ## When it is fine
    Where one single start is to be judged; then one episode is enough.

    ## References
    Gymnasium documentation, *Env.reset*; Henderson et al. 2018, *Deep Reinforcement Learning That Matters*.
    """

    code: ClassVar[str] = "EVA250"
    name: ClassVar[str] = "evaluation-repeats-one-episode"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "seeded"
    follows: ClassVar[tuple[str, ...]] = ("SEE350", "SEE606")

    episodes: int = 4  # in a row
    starts: int = 3  # observations that training episodes begin with
    rounds: int = 2  # evaluations

    def check(self, evidence: Script) -> Iterator[Finding]:
        training = training_streams(evidence)
        own = {int(each["index"]) for each in training}
        classes = {fact(each, "class") for each in training}
        others = [each for each in evidence.streams if int(each["index"]) not in own and fact(each, "class") in classes]
        if not others:
            raise NotEnough("no other environment of the class that is trained in was seen")
        found = [(each, *streak) for each in others for streak in self._streaks(each)]
        if len({at for _, _, at, _ in found}) < self.rounds:
            return
        begun = _starts(evidence, own)
        if begun < self.starts:
            raise NotEnough(f"training episodes were seen to begin in {begun} ways, needs {self.starts}")
        stream, seed, _, count = found[-1]
        yield self.finding(
            "an evaluation over several episodes plays the same one each time",
            seen=f"{count} episodes of {name_of(stream)} in a row begun with the seed {seed}, all of one return and "
            f"length, in {len({at for _, _, at, _ in found})} evaluations",
            expected="another seed for each episode",
            help="reset(seed=seed + episode), or a seed at the first reset only",
            confidence=0.85,
        )

    def _streaks(self, stream: Stream) -> Iterator[tuple[int, int, int]]:
        """Seed, optimizer steps before, and number of episodes that are all alike."""
        if int(stream.get("lanes") or 1) > 1:
            return
        seeds = stream.get("seeds") or ()
        played = (stream.get("at") or (), stream.get("returns") or (), stream.get("lengths") or ())
        rows = list(zip(seeds, *played, strict=False))
        start = 0
        for place in range(1, len(rows) + 1):
            if place == len(rows) or rows[place] != rows[start]:
                seed, at, _, length = rows[start]
                if place - start >= self.episodes and isinstance(seed, int) and length > 1:
                    yield seed, int(at), place - start
                start = place


def _starts(script: Script, streams: set[int]) -> int:
    """In how many ways episodes of these environments were seen to begin."""
    looks: set[float] = set()
    for audit in script.audits:
        nodes = audit.nodes
        begun = nodes.first & np.isin(nodes.stream, list(streams))
        looks.update(nodes.obs_stats[begun, 4].tolist())
    return len(looks)
