"""Every episode is over after its first step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EpisodeEndsAtOnce(Rule):
    """Every episode is over after its first step.

    ## What it checks
    All episodes of the run are one step long, and the environment is not registered with a time limit of one step.

    ## Why it matters
    With one step per episode there is no future to learn about: values are rewards, and the discount never matters.

    ## Likely causes
    1. The flag is inverted: `terminated` is true while all is well. Confirm: print the flags of the first step.
    2. The terminal condition is met in the starting state (a bound of 0, the wrong unit). Confirm: print the state that
       `reset()` returns and the bounds it is compared with.
    3. `step()` is unpacked in the wrong order, so that the reward or `info` is taken for the flag. Confirm: the order
       is obs, reward, terminated, truncated, info.

    ## What to try first
    Print `terminated` and `truncated` for the first three steps after a reset.

    ## When it is fine
    Bandits, and other tasks of a single decision.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (episode length distribution).
    """

    code: ClassVar[str] = "ENV008"
    name: ClassVar[str] = "episode-ends-at-once"
    severity: ClassVar[Severity] = "note"
    needs: ClassVar[tuple[str, ...]] = ("episode/count", "episode/length_max")
    facts: ClassVar[tuple[str, ...]] = ("env",)

    episodes: int = 50  # fewer could be bad luck

    def check(self, evidence: Run) -> Iterator[Finding]:
        ended = int(evidence["episode/count"].finite.value.sum())
        if ended < self.episodes:
            raise NotEnough(f"{ended} episodes, needs {self.episodes}")
        limit = evidence.facts("env")[-1][1].get("time_limit")
        if evidence["episode/length_max"].max() > 1 or limit == 1:
            return
        yield self.finding(
            "every episode is over after one step",
            where=evidence["episode/length_max"].where(-1),
            seen=f"{ended} episodes, all one step long"
            + (f"; the registered time limit is {limit} steps" if limit else ""),
            expected="episodes of more than one step, unless each is a single decision",
            help="print terminated and truncated for the first three steps after a reset",
            confidence=0.9 if limit else 0.6,
        )
