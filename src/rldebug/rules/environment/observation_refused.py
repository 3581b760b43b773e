"""An observation is not one of the space that the environment declares."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.facts import Fact
from rldebug.evidence.crashes.signs import told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ObservationRefused(Rule):
    """An observation is not one of the space that the environment declares.

    ## What it checks
    A checker of environments found an observation outside of `observation_space`: by its type, dtype, shape, bounds or
    NaN.

    ## Why it matters
    Buffers, normalisers and first layers are made from the space. What lies outside is cut, cast or refused.

    ## Likely causes
    1. NumPy computes in float64, and the space says float32. Confirm: print `obs.dtype`.
    2. The bounds are narrower than what the environment reaches. Confirm: compare `obs.max(0)` with
       `observation_space.high`.
    3. The observation holds NaN or infinity. Confirm: `np.isfinite(obs).all()`.
    4. A list, or an array of another shape, is returned. Confirm: print its type and shape.

    ## What to try first
    Return `np.asarray(obs, dtype=self.observation_space.dtype)`, and widen the bounds to what is true.

    ## When it is fine
    Never: the program has ended.

    ## References
    Gymnasium, `check_env`.
    """

    code: ClassVar[str] = "ENV441"
    name: ClassVar[str] = "observation-refused"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            r"[Tt]he obs returned by the `\w+\(\)` method",
            r"returned by `(env\.)?(reset|step)\([^)]*\)` is not within the observation space",
            r"[Tt]he observation returned by `?(the )?`?\w+\(\)`? (method )?(is not|must be|does not match|was expect)",
            r"Error while checking key=",
            r"[Oo]bservation (keys )?is not same as the observation space",
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        method = re.search(r"(reset|step)\(", evidence.message)
        given, space = _met(evidence)
        why, help = _why(evidence, given, space)
        layers = [fact.get("layers", []) for _, _, fact in evidence.held("environment")]
        own = next((layer for each in layers for layer in reversed(each) if layer.get("file")), None)
        home = f"; {own['type']}.step is at {Path(own['file']).name}:{own['line']}" if own else ""
        compared = f"; the observation is {told(given)}, the space {space['told']}" if given and space else ""
        yield self.finding(
            f"{method[1] if method else 'step'}() returned an observation outside of the observation space{why}",
            where=evidence.where,
            seen=f"{evidence.said}{compared}{home}",
            expected=f"observations of {space['told']}" if space else "observations of the space that is declared",
            help=help,
            confidence=0.9,
        )


def _met(crash: Crash) -> tuple[Fact | None, Fact | None]:
    """What the checker was given and the space it looked in, as far as they lie in its frames."""
    given = next((fact for frame, name, fact in crash.held("array", "collection", "tensor") if name == "obs"), None)
    spaces = [fact["observation_space"] for _, _, fact in crash.held("environment") if fact.get("observation_space")]
    return given, spaces[0] if spaces else None


def _why(crash: Crash, given: Fact | None, space: Fact | None) -> tuple[str, str]:
    """Which of the causes it is: dtype, type, NaN, shape; else the bounds."""
    if said := re.search(r"dtype to be (\w+), actual type: (\w+)", crash.message):
        return (
            f": it is {said[2]}, the space {said[1]}",
            f"return obs.astype(np.{said[1]}); NumPy computes in float64 unless told otherwise",
        )
    if said := re.search(r"expecting an? (numpy array|tuple)\S*, actual type: <class '([\w.]+)'>", crash.message):
        return f": it is a {said[2]}, not a {said[1]}", "return np.asarray(obs, dtype=self.observation_space.dtype)"
    if given and given.get("nan"):
        return ": it holds NaN", "find what computes the NaN: a division by 0, a root or logarithm of a negative number"
    if given and space and given.get("shape") is not None and space.get("shape") not in (None, given["shape"]):
        return (
            f": its shape is {tuple(given['shape'])}, that of the space {tuple(space['shape'])}",
            "give the space the shape of what is returned, or the other way round; a wrapper changes both",
        )
    if given and given.get("kind") == "array" and space and space["told"].endswith(f"{given['dtype']})"):
        return (
            ": a number is beyond the bounds",
            "widen the bounds of the space to what is reached, or clip the observation",
        )
    return "", "compare dtype, shape, bounds and NaN of the observation with observation_space"
