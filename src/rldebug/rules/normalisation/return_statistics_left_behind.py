"""An environment took over the observation statistics of another, and not those of its returns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule

Counts = Mapping[int, Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class ReturnStatisticsLeftBehind(Rule):
    """Observation statistics were handed over, return statistics were not.

    ## What it checks
    An environment that normalises observations and rewards counts both, step by step: the counts stay close together.
    Here is one that has counted as many observations more than returns as another environment had seen: it got the
    observation statistics of that one. Its returns begin at nothing, while it scales rewards by them.

    ## Why it matters
    The scale of the reward jumps where training goes on, and drifts until the statistics have settled. Values that were
    learned before are wrong by that factor, and rewards of a replay buffer are normalised by the new scale.

    ## Likely causes
    1. Only `obs_rms` is copied to the new environment. Confirm: print `ret_rms.count` of both.
    2. Only the observation statistics are in the file that is loaded. Confirm: look at what is saved.

    ## What to try first
    `VecNormalize.save` and `VecNormalize.load`, or `sync_envs_normalization`, which carry both.

    ## When it is fine
    The new environment pays in another unit, and a new scale is wanted.

    ## References
    NRM-08 of bench/bugs/sources.toml. Stable-Baselines3, *Vectorized environments*: VecNormalize.
    """

    code: ClassVar[str] = "NRM363"
    name: ClassVar[str] = "return-statistics-left-behind"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    counted: float = 100.0  # observations, from which statistics are some
    near: float = 0.25  # share by which counts may differ: a reset is counted as an observation and not as a return

    def check(self, evidence: Script) -> Iterator[Finding]:
        notes = evidence.noted("normalisers")
        if not any(each.get("rewards") for each in notes):
            raise NotEnough("no environment was seen to scale rewards by its returns")
        shown: dict[int, Mapping[str, Any]] = {}
        paid: dict[int, Mapping[str, Any]] = {}
        for note in notes:  # an environment that is gone has what was last seen of it
            shown |= _by_stream(note["environments"])
            paid |= _by_stream(note.get("rewards") or ())
            both = [each for each in paid if each in shown]
            for new in both:
                for old in both:
                    if new != old and paid[new]["updates"] is not False and self._left(shown, paid, old, new):
                        had, has = shown[new]["count"], paid[new]["count"]
                        yield self.finding(
                            "an environment got the statistics of observations of another, and not those of returns",
                            seen=f"{paid[new]['what']} begins with {had - has:.0f} observations of another environment "
                            "and with no return",
                            expected="both handed over, or neither",
                            help="copy ret_rms with obs_rms (sync_envs_normalization, VecNormalize.load)",
                            confidence=0.85,
                        )
                        return

    def _left(self, shown: Counts, paid: Counts, old: int, new: int) -> bool:
        """All that the new one has counted ahead of its returns is what the old one had counted."""
        had, more = shown[old]["count"], shown[new]["count"] - paid[new]["count"]
        even = abs(had - paid[old]["count"]) <= self.near * had
        return bool(had >= self.counted and even and abs(more - had) <= self.near * had)


def _by_stream(layers: Any) -> dict[int, Mapping[str, Any]]:
    return {int(each["stream"]): each for each in reversed(layers) if each["count"] is not None}
