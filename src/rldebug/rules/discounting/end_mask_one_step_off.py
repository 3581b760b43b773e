"""The mask for the end of an episode is one step off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EndMaskOneStepOff(Rule):
    """The mask for the end of an episode is one step off.

    ## What it checks
    The targets of the losses are traced back to the steps they belong to, and the formula is worked out by which the
    steps within episodes were made: it fits them down to rounding. In the first steps of episodes (or in the last but
    one) nothing is added to the reward, although the episode goes on; that is where a mask lands which belongs to the
    step before (or after). Or the sum of later errors is cut off in the last step but one, and the value alone follows.

    ## Why it matters
    The end itself is not masked, so the value of the next episode flows into this one, and a step that has a future
    is denied it.

    ## Likely causes
    1. `dones[t]` says that the observation t begins an episode, and is used as if it said that step t ends one.
       Confirm: the mask of step t must be the flag that `env.step` returned in step t, `dones[t + 1]` in that
       convention.
    2. The flag is stored after the step in a place read as before the step. Confirm: print flags and rewards around
       an end.

    ## What to try first
    Use for step t the flag that came back from step t.

    ## When it is fine
    Never.

    ## References
    Seen in the wild: ADV-01, ADV-02 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "DIS301"
    name: ClassVar[str] = "end-mask-one-step-off"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "ends"
    follows: ClassVar[tuple[str, ...]] = ("ADV355",)

    rows: int = 4  # beside an end, in which nothing is added

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = fit_targets(evidence)
        if not fits:
            raise NotEnough("the formula of no target was found")

        for fit in fits:
            late, early = fit.ending("first", "zero", "leak"), fit.ending("before", "zero")
            ended = late or early or fit.ending("eve", "value")
            if ended is None or ended.audits < 2 or ended.hit < self.rows or fit.rightly("terminated"):
                continue
            where = "first steps of an episode" if late is not None else "steps before the last of an episode"
            yield self.finding(
                f"the end of an episode is masked one step too {'late' if late is not None else 'early'}",
                where=fit.where,
                seen=f"{_WAYS[ended.way]} in {ended.hit} of {ended.rows} {where}",
                expected="nothing added in the step that ended the episode, and only there",
                help="mask step t with the flag that env.step returned for step t",
                confidence=0.97,
            )


_WAYS = {
    "zero": "nothing is added to the reward",
    "leak": "nothing is added to the reward",
    "value": "the errors of later steps are not carried back",
}
