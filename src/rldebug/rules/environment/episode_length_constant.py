"""Every episode ends after the same number of steps, and no time limit says so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EpisodeLengthConstant(Rule):
    """Every episode terminates after the same number of steps.

    ## What it checks
    All episodes of the run have the same length, all end by `terminated`, the length is neither 1 nor the registered
    time limit, and the returns do differ.

    ## Why it matters
    A terminal state that is reached after exactly the same number of steps every time is mostly a clock. If it is a
    time limit, it must be reported as `truncated`: the value of the state it cuts off is not zero.

    ## Likely causes
    1. A step counter in the environment or a wrapper sets `terminated` instead of `truncated`. Confirm: search for the
       counter; let it set `truncated`.
    2. State that `reset()` does not clear (fuel, lives, an index into data) runs out in every episode at the same step.
       Confirm: reset twice and compare the full state of the environment.
    3. The policy has fallen into one fixed behaviour from the start. Confirm: `policy/entropy_rel` and
       `env/action_mode_share`.

    ## What to try first
    Print what made the last step of an episode terminal.

    ## When it is fine
    Tasks with a fixed horizon by nature: a game of so many moves, a data set of so many rows.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (episode length distribution). Pardo et al., *Time Limits in
    Reinforcement Learning*.
    """

    code: ClassVar[str] = "ENV006"
    name: ClassVar[str] = "episode-length-constant"
    severity: ClassVar[Severity] = "note"
    needs: ClassVar[tuple[str, ...]] = (
        "episode/count",
        "episode/terminated",
        "episode/length_min",
        "episode/length_max",
        "episode/return_min",
        "episode/return_max",
    )

    episodes: int = 20  # fewer can be equal by chance

    def check(self, evidence: Run) -> Iterator[Finding]:
        ended = int(evidence["episode/count"].finite.value.sum())
        if ended < self.episodes:
            raise NotEnough(f"{ended} episodes, needs {self.episodes}")
        lengths = np.concatenate([evidence[name].value for name in ("episode/length_min", "episode/length_max")])
        returns = np.concatenate([evidence[name].value for name in ("episode/return_min", "episode/return_max")])
        limits = {env.get("time_limit") for _, env in evidence.facts("env")}
        length = lengths[0]
        if (
            np.any(lengths != length)
            or not np.isfinite(length)
            or length == 1
            or length in limits
            or np.all(returns == returns[0])
        ):
            return
        if evidence["episode/terminated"].finite.value.sum() != ended:
            return  # cut off by a time limit, and rightly reported as such
        known = [each for each in limits if each]
        yield self.finding(
            "every episode terminates after the same number of steps",
            where=evidence["episode/length_min"].where(-1),
            seen=f"{ended} episodes, all terminated after {length:.0f} steps"
            + (f"; the registered time limit is {known[0]}" if known else ""),
            expected="lengths that vary with what happens, or a time limit reported as truncated",
            help=f"look for what ends the episode at step {length:.0f}; a time limit sets truncated, not terminated",
            confidence=0.8,
        )
