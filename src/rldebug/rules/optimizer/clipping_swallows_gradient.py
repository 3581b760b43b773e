"""Gradients are clipped to so little that the step moves nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.updates import held, updates_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ClippingSwallowsGradient(Rule):
    """Gradients are clipped to so little that the step moves nothing.

    ## What it checks
    The limit of the clipping before each step of an optimizer, against the norm that it found. The limit is 0 or less;
    or gradients are ten times as long as it, and what is left is nothing to the optimizer: with Adam and RMSprop, each
    element is below their `eps`; with SGD, a step is less than a millionth of the weights.

    ## Why it matters
    The network does not learn, or hardly; a limit below 0 even turns the gradient round.

    ## Likely causes
    1. The limit is off by some powers of ten, or is another number than was meant. Confirm: print the limit beside
       what `clip_grad_norm_` returns.
    2. An option of 0 is meant to say "no clipping", and is handed on. Confirm: read the condition around the line.

    ## What to try first
    A limit between 0.5 and 10, near the 90 % quantile of the norms.

    ## When it is fine
    Never.

    ## References
    Andrychowicz et al., *What Matters in On-Policy Reinforcement Learning?* (gradient clipping).
    """

    code: ClassVar[str] = "OPT302"
    name: ClassVar[str] = "clipping-swallows-gradient"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    times: int = 6  # steps that were seen with clipping before them
    above: float = 10.0  # norm over limit
    least: float = 1e-6  # of the weights, for a step of SGD
    share: float = 0.9  # of the steps that show it

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged = False
        for name, updates in updates_of(evidence).items():
            own = held(evidence, name)
            pairs = [
                (clip, each.step)
                for each in updates
                for clip in [clip for clip in each.of("clip") if set(clip.get("modules") or ()) & own][-1:]
                if clip.get("norm")
            ]
            pairs = [(clip, step) for clip, step in pairs if clip["how"] == "norm" and clip.get("limit") is not None]
            if len(pairs) < self.times:
                continue
            judged = True
            swallowed = [(clip, step) for clip, step in pairs if self._swallowed(evidence, name, clip, step)]
            if len(swallowed) >= self.share * len(pairs):
                clip, _ = swallowed[0]
                norms = np.median([float(each["norm"]) for each, _ in pairs])
                yield self.finding(
                    f"gradients of optimizer {name} are clipped to {clip['limit']:g}: nothing is left to learn from",
                    where=clip.where,
                    seen=f"norm {norms:.3g} in the median, limit {clip['limit']:g}, before {len(swallowed)} of "
                    f"{len(pairs)} steps",
                    expected="a limit near the usual norm, mostly between 0.5 and 10",
                    help="raise the limit",
                    confidence=0.95,
                )
        if not judged:
            raise NotEnough(f"fewer than {self.times} steps were seen with clipping before them")

    def _swallowed(self, script: Script, name: str, clip: Event, step: Event) -> bool:
        limit, norm = float(clip["limit"]), float(clip["norm"])
        if not math.isfinite(norm) or not math.isfinite(limit):
            return False
        if limit <= 0:
            return True
        if norm < self.above * limit:
            return False
        thing = script.optimizers.get(name, {})
        settings, numel = thing.get("settings") or {}, int(thing.get("numel") or 0)
        if "eps" in settings and numel:
            return bool(limit / math.sqrt(numel) < float(settings["eps"] or 0.0))
        rate, weights = step.get("lr"), step.get("weights_norm")
        if thing.get("class") != "SGD" or not rate or not weights:
            return False
        return bool(float(rate) * limit < self.least * float(weights))
