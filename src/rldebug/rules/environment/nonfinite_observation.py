"""An observation is NaN or infinite, before anything else is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from rldebug.evidence.finite import nonfinite_at, recorded
from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class NonfiniteObservation(Rule):
    """An observation is NaN or infinite, before anything else is.

    ## What it checks
    It walks the readings of a run in order; in the first one with a number that is not finite, the stage furthest
    upstream is blamed, and only that one. Here that stage is the observation: of a rollout, of a replay batch, or as
    the watched environment returned it (one step in 16 is looked at).

    ## Why it matters
    A network maps one NaN entry to NaN in every output, and the update that learns from the row makes every weight
    NaN.

    ## Likely causes
    1. Observation normalisation divides by a standard deviation that is 0: an entry that never changed yet. Confirm:
       `env/obs_nonfinite` is 0 while `obs/mean` or `replay/obs_mean` is not finite; `obs/constant` is above 0.
    2. A transformation outside its domain: logarithm or root of a negative entry, arc cosine of a number above 1.
       Confirm: apply it by hand to `env.observation_space.low` and `.high`.
    3. The simulation has diverged: actions far out of bounds, a time step too large. Confirm: `env/obs_nonfinite` is
       above 0; `env/action_outside` is above 0 before.
    4. A sensor without a reading reports infinity. Confirm: `obs/max` is infinite in many readings, `obs/mean` of the
       other entries is not.

    ## What to try first
    Put `assert np.isfinite(obs).all()` behind `env.step` and behind the normaliser; the first one that fails is the
    one.

    ## When it is fine
    Rows that are padded with NaN on purpose and masked out later: if everything computed from them stays finite, this
    is a note, not an error.

    ## References
    Schulman, *Nuts and Bolts of Deep RL* (clip normalised observations). Stable-Baselines3, `VecCheckNan`.
    """

    code: ClassVar[str] = "ENV002"
    name: ClassVar[str] = "nonfinite-observation"
    severity: ClassVar[Severity] = "error"
    follows: ClassVar[tuple[str, ...]] = ()
    trap: ClassVar[bool] = True

    def check(self, evidence: Run) -> Iterator[Finding]:
        first = nonfinite_at(evidence, "observation")
        if first is None:
            if not recorded(evidence, "observation"):
                raise NotEnough("no observations were handed over")
            return
        outside = "env/obs_nonfinite" in evidence and first.series != "env/obs_nonfinite"
        place = replace(
            evidence.call("replay" if first.series.startswith("replay/") else "rollout"),
            update=first.reading.update,
            env_step=first.reading.env_step,
            tensor=first.series,
        )
        yield self.finding(
            "an observation is not finite",
            where=place,
            seen=first.seen,
            expected="finite observations on every step",
            help="the environment's own observations look finite: check the preprocessing, a zero std first"
            if outside and evidence["env/obs_nonfinite"].max() == 0
            else "check the observation on that step where the environment returns it, then behind each wrapper",
            confidence=first.confidence,
            severity="note" if first.spread is False else "error",
        )
