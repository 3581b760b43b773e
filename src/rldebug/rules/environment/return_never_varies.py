"""Every episode has the same return and the same length, whatever the agent does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ReturnNeverVaries(Rule):
    """Every episode has the same return and length, whatever is done.

    ## What it checks
    From the first episode to the last, all returns are one and the same number other than 0 and all lengths are,
    although the agent took different actions. Episodes of a single step are left to `episode-ends-at-once`.

    ## Why it matters
    If what the agent does changes neither the return nor the length, no algorithm can tell good from bad.

    ## Likely causes
    1. Episodes are cut off before anything can go wrong: a time limit far too short. Confirm: `episode/truncated`
       equals `episode/count`, and `episode/length_mean` is the limit.
    2. The reward does not depend on the action: a constant, or the wrong variable. Confirm: print reward and action of
       a few steps.
    3. The environment ignores the action it is given. Confirm: send two different constant actions from the same seed;
       the observations must part.

    ## What to try first
    Play two episodes with opposite scripted actions and compare their returns.

    ## When it is fine
    A goal that was never reached yet, with the same penalty at every step until then. A task that is solved from the
    start. A test environment in which nothing depends on the action on purpose.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (episode length and reward distributions).
    """

    code: ClassVar[str] = "ENV005"
    name: ClassVar[str] = "return-never-varies"
    severity: ClassVar[Severity] = "note"
    needs: ClassVar[tuple[str, ...]] = (
        "episode/count",
        "episode/return_min",
        "episode/return_max",
        "episode/length_min",
        "episode/length_max",
    )

    episodes: int = 20  # fewer can be equal by chance
    dominant: float = 0.98  # share of the commonest action above which the actions cannot be said to vary

    def check(self, evidence: Run) -> Iterator[Finding]:
        ended = int(evidence["episode/count"].finite.value.sum())
        if ended < self.episodes:
            raise NotEnough(f"{ended} episodes, needs {self.episodes}")
        returns = np.concatenate([evidence[name].value for name in ("episode/return_min", "episode/return_max")])
        lengths = np.concatenate([evidence[name].value for name in ("episode/length_min", "episode/length_max")])
        if (
            returns[0] == 0.0
            or lengths[0] == 1
            or not np.isfinite(lengths[0])
            or np.any(returns != returns[0])
            or np.any(lengths != lengths[0])
        ):
            return
        if not self._actions_vary(evidence):
            return
        cut = evidence["episode/truncated"].finite.value.sum() == ended
        ending = "cut off" if cut else "ended"
        yield self.finding(
            "every episode has the same return and the same length",
            where=evidence["episode/return_min"].where(-1),
            seen=f"{ended} episodes, each with a return of {returns[0]:.6g} and {ending} after {int(lengths[0])} steps",
            expected="returns that depend on the actions taken",
            help=f"all episodes are cut off after {int(lengths[0])} steps: check that the goal can be reached by then"
            if cut
            else "play two episodes with opposite actions and compare their rewards",
            confidence=0.9,
        )

    def _actions_vary(self, run: Run) -> bool:
        mode = np.concatenate([run[name].finite.value for name in ("env/action_mode_share", "action/mode_share")])
        if len(mode):
            return bool(np.median(mode) < self.dominant)
        return bool(run["action/std"].max() > 0) or bool(run["policy/entropy_rel"].median() > 1.0 - self.dominant)
