"""Normalisation makes inputs enormous."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.batches import calls_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class NormalisedInputExplodes(Rule):
    """Normalisation makes some inputs of the network enormous.

    ## What it checks
    Inputs as wide as the observations are, with numbers far larger than any observation: the largest observation, times
    a large factor, and beyond a thousand.

    ## Why it matters
    One such input outweighs all others in the first layer, and its gradient undoes what was learned.

    ## Likely causes
    1. An element that did not change so far is divided by its deviation of 0, kept from zero by a tiny number only.
       Confirm: print the smallest deviation of the normaliser.
    2. The first observations are normalised with statistics of one or two. Confirm: the same, at the start.

    ## What to try first
    Divide by `sqrt(var + 1e-2)`, or clip normalised observations to ±10.

    ## When it is fine
    Nothing that is known of.

    ## References
    Seen in the wild: NRM-05 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "NRM302"
    name: ClassVar[str] = "normalised-input-explodes"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    large: float = 1000.0  # an input that no normalisation should give
    factor: float = 100.0  # over the largest observation

    def check(self, evidence: Script) -> Iterator[Finding]:
        widths: dict[int, float] = {}
        for stream in evidence.streams:
            obs = stream.get("obs") or {}
            if obs.get("count") and not obs.get("wide"):
                largest = max(np.abs([*obs["low"], *obs["high"]]).max(), 1e-3)
                widths[len(obs["low"])] = max(float(largest), widths.get(len(obs["low"]), 0.0))
        worst: tuple[float, int, Event] | None = None
        looked = 0
        for call in calls_of(evidence):
            if call.input is None or call.input.shape[1] not in widths or call.event["match"] in ("tag", "raw"):
                continue
            if "float" not in str(call.event["inputs"][0]["dtype"]):
                continue
            looked += len(call.input)
            sizes = np.abs(np.where(np.isfinite(call.input), call.input, 0.0)).max(axis=0)
            limit = max(self.large, self.factor * widths[call.input.shape[1]])
            if sizes.max() > limit and (worst is None or sizes.max() > worst[0]):
                worst = (float(sizes.max()), int(sizes.argmax()), call.event)
        if not looked:
            raise NotEnough("no network is given changed observations")
        if worst is not None:
            size, element, event = worst
            yield self.finding(
                "normalisation makes an input of the network enormous",
                where=event.where,
                seen=f"element {element} of the input reaches {size:.3g}, no observation is larger than "
                f"{max(widths.values()):.3g}",
                expected="normalised inputs of a few units",
                help="keep the divisor from being tiny, or clip normalised observations",
                confidence=0.95,
            )
