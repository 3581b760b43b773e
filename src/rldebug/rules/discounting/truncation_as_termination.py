"""Episodes that were cut off are handed over as if they had ended."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TruncationAsTermination(Rule):
    """Episodes that were cut off are handed over as terminated.

    ## What it checks
    The environment itself says how its episodes end, by termination or by truncation. The rollouts handed over flag as
    terminated about as many steps as the environment ended in either way, and clearly more than it terminated.

    ## Why it matters
    After a termination nothing follows and the value is 0. After a truncation the episode would have gone on, and the
    target must bootstrap from the state in which it was cut off. Mixing the two teaches that time limits are death, and
    that states near them are worth less than they are.

    ## Likely causes
    1. `done = terminated or truncated` is stored and used as terminated. Confirm: follow the flag from `env.step()` to
       the line that masks the next value.
    2. A wrapper or an older interface merges the two flags. Confirm: print both where `env.step()` returns.
    3. Only the call to `dbg.rollout` mixes them, and the targets are right. Confirm: print the target of a truncated
       step; it must hold γ V of the state that followed.

    ## What to try first
    Mask the next value with `terminated` alone.

    ## When it is fine
    Where the time limit is part of the task and the observation shows the time left. Where `truncated` is not handed
    over at all, this is only a note.

    ## References
    Pardo et al. 2018, *Time Limits in Reinforcement Learning*. Toni-SM/skrl issue 449. vwxyzjn/cleanrl issue 198.
    """

    code: ClassVar[str] = "DIS006"
    name: ClassVar[str] = "truncation-as-termination"
    severity: ClassVar[Severity] = "warning"
    aim: ClassVar[str] = "ends"
    needs: ClassVar[tuple[str, ...]] = (
        "rollout/terminated",
        "rollout/steps",
        "episode/terminated",
        "episode/truncated",
        "episode/steps",
    )
    follows: ClassVar[tuple[str, ...]] = ("DIS007",)

    cut: int = 3  # truncations the environment reported while the rollouts were collected
    ends: float = 4.0  # steps flagged as terminated beyond the environment's terminations
    sure: float = 4.0  # standard errors that makes
    covers: float = 0.6  # of the environment's endings of both kinds, at least

    def check(self, evidence: Run) -> Iterator[Finding]:
        flagged = steps = terminated = truncated = variance = 0.0
        for line in evidence.readings:
            counts = [line.numbers.get(name, 0.0) for name in self.needs]
            share, size, ended, cut, played = counts
            if not all(map(math.isfinite, counts)) or min(counts) < 0 or size <= 0 or played <= 0:
                continue
            # The environment's counts are since the last reading, which may be longer ago than the rollout is.
            part = min(size / played, 1.0)
            flagged += share * size
            steps += size
            terminated += ended * part
            truncated += cut * part
            variance += (ended + cut) * part * (1.0 - part)
        if truncated < self.cut:
            raise NotEnough(f"about {truncated:.0f} truncations in the rollouts looked at, needs {self.cut}")
        both = terminated + truncated
        beyond = flagged - terminated
        if beyond < max(self.ends, self.sure * math.sqrt(variance)):
            return
        if not self.covers * both < flagged < both / self.covers:
            return
        handed = "rollout/truncated" in evidence
        yield self.finding(
            "truncated episodes are handed over as terminated",
            where=evidence.call("rollout"),
            seen=f"in the {int(steps)} steps handed over the environment terminated {terminated:.0f} episodes and "
            f"truncated {truncated:.0f}; {flagged:.0f} steps are flagged terminated",
            expected=f"{terminated:.0f} of them",
            help="keep the two flags apart, and mask the next value with terminated alone",
            confidence=0.9 if handed else 0.6,
            severity="warning" if handed else "note",
        )
