"""A cut-off episode goes on with the next one's first observation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class NextEpisodeBootstrapped(Rule):
    """A cut-off episode goes on with the next one's first observation.

    ## What it checks
    Episodes that are cut off at different times, in states that are worth different amounts: what was learned mixes a
    state with where the next episode happened to begin.

    ## Why it matters
    A vector environment returns the first observation of the next episode in place of the last one. Whoever
    bootstraps from it values another episode.

    ## Likely causes
    1. `next_obs` is stored, or valued, as it was returned; the last observation is in `info["final_obs"]`. Confirm:
       print `next_obs` of a row where `truncated` is True beside `info["final_obs"]`.
    2. The key is spelt as before Gymnasium 1.0 (`final_observation`), and never found. Confirm: search for it.
    3. With next-step autoreset, the step that only restarts is stored: its action is ignored and its reward 0.
       Confirm: print `envs.metadata["autoreset_mode"]`, and the row after an end.
    4. A sum over steps is cut at `terminated` alone, and goes on where time ran out. Confirm: compute it over an
       episode that is cut off.

    ## What to try first
    Print the stored next observation of the rows where time ran out, and `info["final_obs"]`.

    ## When it is fine
    Never.

    ## References
    Gymnasium, *Vector environments: autoreset modes*; Towers and others, *Gymnasium* (2024).
    """

    code: ClassVar[str] = "BUF009"
    name: ClassVar[str] = "next-episode-bootstrapped"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = (*up_to("POL016"), "ADV007", "DIS013", "DIS016")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        for name in ("unequal-episodes", "same-step-autoreset", "next-step-autoreset", "disabled-autoreset"):
            rung = evidence[name]
            if rung.outcome == "failed":
                yield self.finding(
                    "a cut-off episode is continued with the first observation of the next one",
                    **shown(rung),
                    help='print the stored next observation where truncated, and info["final_obs"]',
                    confidence=0.9 if "reset-obs-bootstrapped" in rung.matched[:2] else 0.7,
                )
                return
