"""Now and then a network is given a raw observation in place of a normalised one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.batches import Call, calls_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class RawObservationInBetween(Rule):
    """Now and then a network is given a raw observation.

    ## What it checks
    Most inputs of a network are observations that were changed on their way, and some, in the same stretch of the
    program, are observations as the environment handed them out. Those lie far outside of the others.

    ## Why it matters
    The network answers to an input of another scale: at the end of an episode its value is noise in every target.

    ## Likely causes
    1. The final observation of an episode that was cut off is not normalised before its value is asked for. Confirm:
       print the input of that call.
    2. One of several calls was forgotten when the normaliser was put in. Confirm: the same.

    ## What to try first
    Normalise inside the network, or in one function that all calls go through.

    ## When it is fine
    A network that is called on other things than observations as well.

    ## References
    Seen in the wild: NRM-01 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "NRM303"
    name: ClassVar[str] = "raw-observation-in-between"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    raw: int = 4  # rows that are observations as they came
    others: int = 64  # rows that are not, in the same audit
    outside: float = 3.0  # ranges of the others by which a raw one lies outside

    def check(self, evidence: Script) -> Iterator[Finding]:
        groups: dict[tuple[int, str], list[Call]] = {}
        for call in calls_of(evidence):
            inputs = call.event["inputs"]
            if (
                call.input is not None
                and call.event["match"] != "tag"
                and inputs
                and "float" in str(inputs[0]["dtype"])
            ):
                groups.setdefault((call.audit.number, call.module), []).append(call)
        rows = judged = 0
        audits: set[int] = set()
        where: Event | None = None
        told = ""
        for (number, _), calls in groups.items():
            width = calls[0].audit.nodes.obs.shape[1]
            same = [each for each in calls if each.input is not None and each.input.shape[1] == width > 0]
            raw = [each for each in same if each.event["match"] == "raw" and each.known.all()]
            rest = [each for each in same if each.event["match"] in ("alias", "none")]
            plain = np.concatenate([np.asarray(each.input) for each in raw]) if raw else np.empty((0, width))
            changed = np.concatenate([np.asarray(each.input) for each in rest]) if rest else np.empty((0, width))
            if len(changed) < self.others:
                continue
            judged += 1
            # Raw rows that are many are no exception: another rule compares acting and learning.
            if not len(plain) or len(plain) > 0.2 * len(changed) or not np.isfinite(changed).all():
                continue
            low, high = np.percentile(changed, [0.5, 99.5], axis=0)
            span = np.maximum(high - low, 1e-9)
            beyond = np.maximum(low - plain, plain - high) / span
            if (beyond.max(axis=1) > self.outside).all():
                rows += len(plain)
                audits.add(number)
                element = int(beyond.max(axis=0).argmax())
                if where is None:
                    where = raw[0].event
                    told = (
                        f"element {element} is {plain[0, element]:.3g}, elsewhere "
                        f"{low[element]:.3g} to {high[element]:.3g}"
                    )
        if not judged:
            raise NotEnough("no network is given changed observations")
        if where is not None and rows >= self.raw and len(audits) > 1:
            yield self.finding(
                "now and then the network is given a raw observation",
                where=where.where,
                seen=f"{rows} rows in {len(audits)} audits are observations as they came, far from all other "
                f"inputs: {told}",
                expected="an observation that is prepared as all others are",
                help="normalise this observation too before the network is called",
                confidence=0.94,
            )
