"""No episode has ended in a very long time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EpisodeNeverEnds(Rule):
    """No episode has ended in a very long time.

    ## What it checks
    The watched environment took many steps without reporting a single end: several times its registered time limit, or
    a hundred thousand where it has none. Rollouts or replay batches that carry ends of the loop's own excuse it.

    ## Why it matters
    Without ends there are no new starts: the agent sees one stretch of the state space, and returns cannot be measured.

    ## Likely causes
    1. The time limit was taken off together with the wrappers (`env.unwrapped`, `env.env`). Confirm: print the
       environment; there must be a `TimeLimit` in the chain.
    2. A terminal condition that cannot be met: a wrong sign, a comparison with the wrong variable. Confirm: drive the
       environment into a state that should end it.
    3. A wrapper swallows the flags. Confirm: compare `terminated` and `truncated` inside and outside of the wrapper.

    ## What to try first
    Print the chain of wrappers (`print(env)`) and look for `TimeLimit`.

    ## When it is fine
    Continuing tasks without episodes, and loops that reset on a clock of their own without handing that over.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (episode length distribution).
    """

    code: ClassVar[str] = "ENV007"
    name: ClassVar[str] = "episode-never-ends"
    severity: ClassVar[Severity] = "note"
    needs: ClassVar[tuple[str, ...]] = ("episode/steps", "episode/count")
    facts: ClassVar[tuple[str, ...]] = ("env",)

    limits: int = 3  # time limits that passed without an end, in a single environment
    vector_limits: int = 200  # the same for a vector of environments, however many they are
    steps: int = 100_000  # env steps where no time limit is known

    def check(self, evidence: Run) -> Iterator[Finding]:
        taken = int(evidence["episode/steps"].finite.value.sum())
        env = evidence.facts("env")[-1][1]
        limit = env.get("time_limit") or env.get("registered_limit")
        enough = (self.vector_limits if env.get("vector") else self.limits) * limit if limit else self.steps
        if evidence["episode/count"].finite.value.sum() > 0:
            return
        if any(
            evidence[name].max() > 0
            for name in ("rollout/terminated", "rollout/truncated", "replay/terminated", "reward/per_trajectory")
        ):
            return
        if taken < enough:
            raise NotEnough(f"{taken} env steps without an end, needs {enough}")
        yield self.finding(
            "no episode has ended",
            where=evidence["episode/steps"].where(-1),
            seen=f"{taken} env steps and not one end"
            + (f"; the registered time limit is {limit} steps" if limit else ""),
            expected=f"an end within {limit} steps" if limit else "an end now and then, or a time limit",
            help="print(env): a TimeLimit wrapper must be in the chain; env.unwrapped and env.env take it off"
            if limit
            else "check the condition that sets terminated, or add a time limit with gymnasium.wrappers.TimeLimit",
            confidence=0.9 if limit else 0.7,
        )
