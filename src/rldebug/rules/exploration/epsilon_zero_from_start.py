"""There is no exploration: epsilon is 0 from the start."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EpsilonZeroFromStart(Rule):
    """Epsilon is 0 from the first update on.

    ## What it checks
    The exploration parameter handed over as `epsilon=` is 0 in the first update and in all later ones, and the actions
    of the first steps are not spread over all actions either, so there was no random warm-up. A note where no actions
    were seen.

    ## Why it matters
    A greedy agent follows an untrained network, and learns only about the actions that network happens to prefer.

    ## Likely causes
    1. The schedule jumps to its end at the first step: its length is 0, or it counts in another unit. Confirm: print
       epsilon for the first ten steps.
    2. Epsilon is set by an option that has no effect, or that means evaluation. Confirm: print it where the action is
       chosen.

    ## What to try first
    Print epsilon for the first ten steps.

    ## When it is fine
    Exploration comes from elsewhere: noisy layers, a softmax over values, optimistic values, a fixed data set.

    ## References
    Sutton and Barto, *Reinforcement Learning: An Introduction* (2018), section 2.2.
    """

    code: ClassVar[str] = "EXP004"
    name: ClassVar[str] = "epsilon-zero-from-start"
    severity: ClassVar[Severity] = "warning"
    aim: ClassVar[str] = "threshold"
    needs: ClassVar[tuple[str, ...]] = ("exploration/epsilon",)

    zero: float = 1e-3  # of epsilon
    readings: int = 10  # of epsilon
    spread: float = 1.4  # times 1 / number of actions: a share of the commonest action up to here is a random warm-up

    def check(self, evidence: Run) -> Iterator[Finding]:
        epsilon = evidence["exploration/epsilon"].finite
        if len(epsilon) < self.readings:
            raise NotEnough(f"{len(epsilon)} readings of epsilon, needs {self.readings}")
        if epsilon.max() > self.zero:
            return
        actions = next((env["actions"] for _, env in evidence.facts("env") if env.get("actions")), None)
        commonest = self._commonest(evidence)
        if actions and commonest is not None and commonest <= self.spread / actions:
            return
        sure = bool(actions) and commonest is not None
        yield self.finding(
            "epsilon is 0 from the first update on",
            where=replace(evidence.call("update"), update=int(epsilon.update[0]), env_step=int(epsilon.env_step[0])),
            seen=f"at most {epsilon.max():.2g} in {len(epsilon)} readings"
            + (f"; one of {actions} actions makes up {commonest:.0%} of the first steps" if sure else ""),
            expected="above 0 at the start, 0.05 or more",
            help="print epsilon for the first ten steps, and the length of its schedule",
            confidence=0.8 if sure else 0.5,
            severity=None if sure else "note",
        )

    def _commonest(self, run: Run) -> float | None:
        """Share of the commonest action in the first steps, as the environment got them; else in the first batch."""
        for reading in run.readings:
            if reading.numbers.get("episode/steps", 0.0) >= 50 and "env/action_mode_share" in reading.numbers:
                return reading.numbers["env/action_mode_share"]
        replay = run["replay/action_mode_share"].finite
        return replay.first if len(replay) else None
