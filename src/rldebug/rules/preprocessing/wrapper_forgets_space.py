"""A wrapper changes observations but not their declared space."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_contract import EnvContract
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class WrapperForgetsSpace(Rule):
    """A wrapper changes observations but not their declared space.

    ## What it checks
    Every layer of wrappers is looked at by itself: observations fit the space below the wrapper, and not above it. By
    shape and kind it is an error; by bounds a warning.

    ## Why it matters
    Networks and buffers are built from the declared space: what comes does not fit, or is rounded to bytes, scaled by
    the wrong bounds, clipped at them.

    ## Likely causes
    1. `observation()` was written, and `self.observation_space` not set in `__init__`. Confirm: print the space above
       and below the wrapper.
    2. A formula of the wrapper is wrong, and the space is right. Confirm: put the lowest and the highest observation
       through it by hand.

    ## What to try first
    Set `self.observation_space` in the wrapper to what it hands out.

    ## When it is fine
    Never by shape or kind. By bounds, where nobody uses them.

    ## References
    Gymnasium, `ObservationWrapper`.
    """

    code: ClassVar[str] = "PRE004"
    name: ClassVar[str] = "wrapper-forgets-space"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "EnvContract"

    share: float = 0.05  # of the observations that are outside
    excess: float = 0.1  # beyond the bound, over the declared width

    def check(self, evidence: EnvContract) -> Iterator[Finding]:
        if not evidence.layers:
            raise NotEnough("the wrappers could not be looked at")
        for layer, below in itertools.pairwise(evidence.layers):
            if layer.misfit is not None and below.misfit is None:
                yield self.finding(
                    f"wrapper {layer.name} changes observations but not their space",
                    where=layer.where,
                    seen=f"{layer.misfit.part} has {layer.misfit.seen} above it; all fits below it",
                    expected=layer.misfit.expected,
                    help=f"set self.observation_space in {layer.name}.__init__",
                    confidence=0.95,
                )
            out = layer.outside
            if out is None or below.outside is not None or layer.misfit is not None or layer.known:
                continue
            if out.share >= self.share and out.excess >= self.excess:
                yield self.finding(
                    f"wrapper {layer.name} hands out observations outside of its declared bounds",
                    where=layer.where,
                    seen=f"{out.part} is {out.worst:.4g} above it, outside in {out.times} of {out.of}; all "
                    f"fits below it",
                    expected=f"from {out.low:.4g} to {out.high:.4g}",
                    help=f"set self.observation_space in {layer.name}.__init__, or correct its formula",
                    confidence=0.9,
                    severity="warning",
                )
