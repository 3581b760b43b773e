"""An element of the observation varies, and its place in the network's input does not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.inputs import inputs_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ElementNeverReachesNetwork(Rule):
    """Part of the observation varies but its input to the network does not.

    ## What it checks
    Inputs of the network to act, beside the observations they were made of. An element of the observation varies, the
    same element of the input is constant, and other elements come through.

    ## Why it matters
    The network cannot see that part of the observation, whatever it learns.

    ## Likely causes
    1. A slice in the preparation is wrong: `obs[-2:0]` is empty, `obs[2:] = 0` is not. Confirm: print one input.
    2. Clipping to a range that this element never enters. Confirm: compare its range with the bounds.
    3. It is cast to whole numbers. Confirm: print the dtype on the way.

    ## What to try first
    Print an observation, and the input that is made of it.

    ## When it is fine
    Velocities hidden on purpose, to study memory.

    ## References
    Seen in the wild: PRE-05 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "PRE302"
    name: ClassVar[str] = "element-never-reaches-network"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    audits: int = 3  # that agree

    def check(self, evidence: Script) -> Iterator[Finding]:
        lost: dict[int, int] = {}
        seen: dict[str, int] = {}
        where: Event | None = None
        for each in inputs_of(evidence):
            if each.use != "acting" or not (each.related > 0.9).any():
                continue
            seen[each.module] = seen.get(each.module, 0) + 1
            constant = (each.input_spread <= 1e-7 * (1 + each.largest)) & (
                each.obs_spread > 1e-3 * each.obs_spread.max()
            )
            for element in np.flatnonzero(constant):
                lost[int(element)] = lost.get(int(element), 0) + 1
                where = where or each.event
        looks = max(seen.values(), default=0)
        if looks < self.audits:
            raise NotEnough(f"{looks} audits in which inputs could be set beside observations")
        always = sorted(element for element, times in lost.items() if times >= sum(seen.values()))
        if always and where is not None:
            yield self.finding(
                "a part of the observation never reaches the network",
                where=where.where,
                seen=f"element{'s' if len(always) > 1 else ''} {', '.join(map(str, always[:6]))} of the input "
                "constant in all of "
                f"{sum(seen.values())} looks, while the observation varies there",
                expected="inputs that vary where observations do",
                help="look at the slices and bounds in the preparation of observations",
                confidence=0.85,
            )
