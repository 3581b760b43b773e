"""The advantage is masked by the flag of a neighbouring step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class AdvantageMaskedOneStepOff(Rule):
    """The advantage is masked by the flag of a neighbouring step.

    ## What it checks
    The targets of the critic, or the weights of the log-probs, follow the recursion of generalised advantage
    estimation down to rounding. It is cut one step beside the end of an episode: nothing is added in the first step of
    the next episode, or in the step before the last.

    ## Why it matters
    Across the true end values and advantages of the next episode leak into this one, and a step that did not end is
    learned as if it had.

    ## Likely causes
    1. Flags that say "this observation begins an episode" are read at t where t + 1 is needed. Confirm: print flag,
       reward and advantage around an end.
    2. The flag is stored after the step in an array that means "before". Confirm: the same.

    ## What to try first
    `not_done = 1 - starts[t + 1]`, or store the flag that `env.step` returned for step t and use it at t.

    ## When it is fine
    Never.

    ## References
    Seen in the wild: ADV-01 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ADV355"
    name: ClassVar[str] = "advantage-masked-one-step-off"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "ends"

    rows: int = 4  # beside an end, in which nothing is added

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = fit_targets(evidence)
        if not fits:
            raise NotEnough("the formula of no target was found")
        for fit in fits:
            late, early = fit.ending("first", "zero", "leak"), fit.ending("before", "zero")
            ended = late or early
            if fit.name != "gae" or ended is None or ended.audits < 2 or ended.hit < self.rows:
                continue
            if fit.rightly("terminated"):
                continue
            where = "first steps of an episode" if late is not None else "steps before the last of an episode"
            yield self.finding(
                f"the advantage is cut one step too {'late' if late is not None else 'early'}",
                where=fit.where,
                seen=f"nothing is carried back in {ended.hit} of {ended.rows} {where}",
                expected="a cut at the step that ended the episode, and only there",
                help="mask step t with the flag that env.step returned for step t",
                confidence=0.97,
            )
            return
