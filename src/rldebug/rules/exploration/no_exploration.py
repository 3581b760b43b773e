"""One action is taken all the time, from the first step on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class NoExploration(Rule):
    """From the first step on, nearly all actions are the same one.

    ## What it checks
    The actions the environment received, counted from the start of the run: over hundreds of steps and several episodes
    one action makes up more than 99 % of them, although there are others.

    ## Why it matters
    What was never tried cannot be learned. An untrained agent has no reason to prefer an action, so this is a bug and
    not a policy.

    ## Likely causes
    1. Random actions are drawn from a range that is too small, `randint(n - 1)` or `int(random())`. Confirm: print a
       hundred of them.
    2. The greedy action is taken and there is no noise: epsilon is 0, the distribution's mode is used. Confirm:
       `exploration/epsilon`, or that acting calls `sample()`.
    3. A wrong index or cast turns every action into the same one. Confirm: print the action before and after each
       conversion on its way to the environment.

    ## What to try first
    Print the first hundred actions.

    ## When it is fine
    A policy that was trained before, on a task where one action is nearly always right.

    ## References
    Nikanjam et al., *Faults in Deep Reinforcement Learning Programs* (missing exploration).
    """

    code: ClassVar[str] = "EXP001"
    name: ClassVar[str] = "no-exploration"
    severity: ClassVar[Severity] = "warning"
    facts: ClassVar[tuple[str, ...]] = ("env",)
    needs: ClassVar[tuple[str, ...]] = ("env/action_mode_share", "episode/steps", "episode/count")
    follows: ClassVar[tuple[str, ...]] = ("EXP004", "ACT001", "ENT005")

    share: float = 0.99  # of the actions
    steps: int = 300  # from the start
    stretch: int = 30  # steps between two readings, under which they do not count
    episodes: int = 5  # from the start

    def check(self, evidence: Run) -> Iterator[Finding]:
        actions = next((env["actions"] for _, env in evidence.facts("env") if env.get("actions")), None)
        if actions is None or actions < 2:
            raise NotEnough("the environment has no two discrete actions to choose from")
        steps = others = episodes = 0.0
        until = Where()
        for reading in evidence.readings:
            taken, share = (reading.numbers.get(name) for name in ("episode/steps", "env/action_mode_share"))
            if taken is None or share is None:
                continue
            # On a few steps the commonest action may be another one each time: they can only speak against.
            counted = taken if taken >= self.stretch else 0.0
            if others + taken * (1.0 - share) > (1.0 - self.share) * (steps + counted):
                break
            steps, others = steps + counted, others + taken * (1.0 - share)
            if counted:
                episodes += reading.numbers.get("episode/count", 0.0)
                until = Where(update=reading.update, env_step=reading.env_step)
        else:
            if steps < self.steps:
                raise NotEnough(
                    f"{steps:.0f} environment steps in readings of {self.stretch} or more, needs {self.steps}"
                )
        if steps < self.steps or episodes < self.episodes:
            return
        yield self.finding(
            "one action is taken all the time, from the first step on",
            where=until,
            seen=f"{1 - others / steps:.1%} of the first {steps:.0f} actions are the same, in {episodes:.0f} episodes; "
            f"{actions} actions are available",
            expected=f"below {self.share:.0%}: before it has learned, an agent tries all of them",
            help="print the first hundred actions, as they are drawn and as the environment gets them",
            confidence=0.8,
        )
