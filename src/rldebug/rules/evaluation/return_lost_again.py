"""Returns had risen, and have fallen back to where they began."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.learning import change, curve_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ReturnLostAgain(Rule):
    """What was learned was lost again.

    ## What it checks
    Means over stretches of episodes. The best one lies far above the untrained policy, by more than the spread of its
    returns and beyond chance; the last one is back where it began.

    ## Why it matters
    The program can learn the task. Something that comes later undoes it: the last weights are not the best.

    ## Likely causes
    1. Updates are too large: learning rate, number of epochs. Confirm: `policy/kl` and `step/log10_ratio` around there.
    2. Values run away. Confirm: their mean against the returns.
    3. Exploration, a schedule or a buffer reaches its end there. Confirm: compare the update with those of schedules.

    ## What to try first
    Keep the weights of the best evaluation, and lower the learning rate.

    ## When it is fine
    The task changes on the way: curricula and self-play make it harder.

    ## References
    Dohare et al., *Overcoming policy collapse in deep reinforcement learning*.
    """

    code: ClassVar[str] = "EVA301"
    name: ClassVar[str] = "return-lost-again"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "Script"

    episodes: int = 20  # of a stretch
    stretches: int = 6  # in the run
    risen: float = 1.5  # spreads of the first returns that the best stretch lies above them
    left: float = 0.2  # of that gain, at the end
    chance: float = 0.002  # of such a rise, and of such a fall

    def check(self, evidence: Script) -> Iterator[Finding]:
        curve = curve_of(evidence)
        size = max(self.episodes, len(curve) // 20)
        count = len(curve) // size
        if count < self.stretches:
            raise NotEnough(f"{len(curve)} episodes, needs {self.stretches * size}")
        parts = curve.returns[len(curve) - count * size :].reshape(count, size)
        first = curve.returns[:size]
        best = int(np.argmax(parts.mean(axis=1)))
        up, down = change(first, parts[best]), change(parts[best], parts[-1])
        gain = up.gain
        if gain < self.risen * max(up.spread, parts[best].std()) or max(up.chance, down.chance) > self.chance:
            return
        # The two last stretches: one bad one is bad luck.
        if best >= count - 2 or parts[-2:].mean(axis=1).max() > up.before + self.left * gain:
            return
        at = int(curve.at[len(curve) - count * size + best * size])
        yield self.finding(
            "returns had risen, and have fallen back to where they began",
            where=Where(update=at),
            seen=f"{up.before:.4g} over the first {size} episodes, {up.after:.4g} around update {at}, "
            f"{down.after:.4g} over the last {size}",
            expected="returns that stay",
            help="keep the weights of the best evaluation; lower the learning rate, and look at what changes there",
            confidence=0.7,
        )
