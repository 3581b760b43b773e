"""The weights that are kept are those with the lowest return."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.moments import Moment, moments
from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.worlds import Stream, evaluation_streams, name_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class LowestReturnKept(Rule):
    """The weights that are kept are those with the lowest return.

    ## What it checks
    The returns of each evaluation, as they were measured, and after which of them the program saved. It saved after
    the first one, and then after each that was worse than all before, and after no other: also not after those that
    were better than all before. Nothing was saved at other times, and what was kept is loaded later.

    ## Why it matters
    The best policies are thrown away. What is loaded as the best is the worst that was seen.

    ## Likely causes
    1. The comparison is that for a loss: `score < best`, with `best` infinite at first. Confirm: print both where it
       saves.
    2. The score is negated once too often. Confirm: print it.

    ## What to try first
    `if score > best`, with `best = -inf` at first.

    ## When it is fine
    Rewards are costs, of which little is wanted.

    ## References
    Bug kind CKP of bench/bugs/sources.toml: the best checkpoint.
    """

    code: ClassVar[str] = "CKP455"
    name: ClassVar[str] = "lowest-return-kept"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    evaluations: int = 4  # that were seen
    better: int = 2  # of them that were better than all before, and not saved
    most: int = 8  # moments of saving that are all told; of more, some are left out

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = [each for each in moments(evidence) if each.update > 0]
        chosen = evaluation_streams(evidence)
        if not found or len(found) > self.most:
            raise NotEnough(f"saved at {len(found)} moments of training, needs 1 to {self.most}")
        judged = 0
        played: dict[str, list[Stream]] = {}
        for each in evidence.streams:
            if int(each["index"]) in chosen:
                played.setdefault(name_of(each), []).append(each)
        for name, streams in played.items():
            returns = [one for each in streams for one in each.get("returns") or ()]
            at = [one for each in streams for one in each.get("at") or ()]
            if len(returns) != len(at) or sum(int(each.get("episodes") or 0) for each in streams) > len(returns):
                continue
            rounds = sorted({int(each) for each in at})
            scores = [float(np.mean([one for one, when in zip(returns, at, strict=True) if when == each]))
                      for each in rounds]  # fmt: skip
            judged = max(judged, len(rounds))
            if len(rounds) < self.evaluations or not np.isfinite(scores).all():
                continue
            missed = self._missed(rounds, scores, found)
            if missed < self.better or not self._loaded(evidence, found):
                continue
            at_last = rounds.index(found[-1].update)
            best = int(np.argmax(scores))
            yield self.finding(
                "the weights that are kept are those with the lowest return",
                where=found[-1].where,
                seen=f"saved where episodes of {name} returned {scores[at_last]:.4g} on average, the worst "
                f"so far, and not at update {rounds[best]}, where they returned {scores[best]:.4g}; {missed} of "
                f"{len(rounds)} evaluations were better than all before, and none of them was kept",
                expected="the weights with the highest return",
                help="keep them where the score is above the best so far, and begin with -inf",
                confidence=0.9,
            )
            return
        if judged < self.evaluations:
            raise NotEnough(f"{judged} evaluations were seen, needs {self.evaluations}")

    def _missed(self, rounds: Sequence[int], scores: Sequence[float], saved: Sequence[Moment]) -> int:
        """Evaluations that were better than all before and not kept; none where saving follows any other pattern."""
        kept = {each.update for each in saved}
        if not kept <= set(rounds) or rounds[0] not in kept:
            return 0
        missed = 0
        for place in range(1, len(rounds)):
            worst, best, is_kept = min(scores[:place]), max(scores[:place]), rounds[place] in kept
            if scores[place] != worst and is_kept != (scores[place] < worst):
                return 0
            missed += scores[place] > best and not is_kept
        return missed

    def _loaded(self, script: Script, saved: Sequence[Moment]) -> bool:
        files = {file for each in saved for file in each.files}
        later = [each for each in script.noted("load") if each.get("what") == "file" and each.get("file") in files]
        return len(saved) > 1 or bool(later)
