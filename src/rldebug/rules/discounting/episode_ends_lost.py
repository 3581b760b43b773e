"""Episodes end in the environment, and in no rollout."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EpisodeEndsLost(Rule):
    """Episodes end in the environment, and in no rollout.

    ## What it checks
    The environment ended many episodes. At that rate the rollouts handed over should hold a good number of endings, and
    not one step of them is flagged.

    ## Why it matters
    Returns then run on from the end of one episode into the start of the next, and every value is that of an endless
    life.

    ## Likely causes
    1. The flags are never written to the buffer. Confirm: print their sum for one rollout.
    2. The wrong variable is stored, or a flag of the state before. Confirm: print both flags where `env.step()`
       returns.
    3. The flags are cleared by the reset before they are stored. Confirm: store them before `env.reset()`.

    ## What to try first
    Print `terminated.sum()` and `truncated.sum()` for one rollout that holds an ending.

    ## When it is fine
    Environments that only truncate, where `truncated` is not handed over: those are not judged.

    ## References
    Nikanjam et al. 2022, *Faults in deep reinforcement learning programs* (missing terminal state).
    """

    code: ClassVar[str] = "DIS008"
    name: ClassVar[str] = "episode-ends-lost"
    severity: ClassVar[Severity] = "warning"
    aim: ClassVar[str] = "ends"
    needs: ClassVar[tuple[str, ...]] = ("rollout/terminated", "rollout/steps", "episode/terminated", "episode/steps")

    expected: float = 12.0  # endings that the rollouts looked at should hold; chance leaves none in one of 100 000

    def check(self, evidence: Run) -> Iterator[Finding]:
        kinds = ["terminated", *(["truncated"] if "rollout/truncated" in evidence else [])]
        due = looked = 0.0
        for line in evidence.readings:
            size, played = line.numbers.get("rollout/steps", 0.0), line.numbers.get("episode/steps", 0.0)
            flags = [line.numbers.get(f"rollout/{kind}", 0.0) for kind in kinds]
            ended = sum(line.numbers.get(f"episode/{kind}", 0.0) for kind in kinds)
            if not all(map(math.isfinite, (size, played, ended, *flags))) or size <= 0 or played <= 0:
                continue
            if any(each > 0 for each in flags):
                return
            # The environment's counts are since the last reading, which may be longer ago than the rollout is.
            due += ended * min(size / played, 1.0)
            looked += size
        if due < self.expected:
            raise NotEnough(f"about {due:.0f} endings should be in the rollouts looked at, needs {self.expected:g}")
        yield self.finding(
            "episodes end in the environment, but in no rollout that was handed over",
            where=evidence.call("rollout"),
            seen=f"while the {int(looked)} steps handed over were collected, the environment ended about {due:.0f} "
            "episodes; no step is flagged as an end",
            expected=f"about {due:.0f} flags",
            help="store terminated and truncated as env.step() returns them, before the reset",
            confidence=0.9,
        )
