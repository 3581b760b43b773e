"""Windows of several steps run over the end of an episode."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class WindowRunsOverTheEnd(Rule):
    """Windows of several steps run over the end of an episode.

    ## What it checks
    Networks are asked about the observation n steps on, with n above 1. For rows within n steps of the end of an
    episode, by a time limit or by itself, that observation belongs to the next episode.

    ## Why it matters
    The return joins two episodes: the last states of one are credited with what was earned in another.

    ## Likely causes
    1. The window is emptied at a true end only, not at a time limit. Confirm: look at which flag empties it.
    2. Rows of a ring buffer are joined without looking at the ends between them. Confirm: sample rows before an end.

    ## What to try first
    Empty the window at `terminated or truncated`; at a time limit bootstrap from the last observation of the episode.

    ## When it is fine
    Where the return is cut at the end by a mask all the same, the observation beyond does not matter; then nothing is
    said.

    ## References
    Seen in the wild: BUF-07 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "BUF351"
    name: ClassVar[str] = "window-runs-over-the-end"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "window"

    rows: int = 4  # within n steps of an end

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = [each for each in fit_targets(evidence) if each.n > 1]
        if not fits:
            raise NotEnough("no target of several steps was found")
        for fit in fits:
            crossed, judged = fit.crossed
            if judged < self.rows:
                raise NotEnough(f"{judged} windows with an end in them were seen")
            if crossed >= 0.9 * judged:
                yield self.finding(
                    "windows of several steps run into the next episode",
                    where=fit.where,
                    seen=f"{crossed} of {judged} rows within {fit.n} steps of an end are bootstrapped from the episode "
                    "after it",
                    expected="the last observation of the same episode",
                    help="empty the window whenever an episode ends, also by a time limit",
                    confidence=0.93,
                )
