"""Transplant: what a program showed as it is, and with one of its functions replaced by the reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from rldebug.evidence.verification import Verification

Verdict = Literal["gone", "stays", "partly", "none", "unclear"]
BAD = ("failed", "crashed")  # outcomes of a rung that are a symptom
LAST = 0.2  # of the episodes tell how it plays in the end


@dataclass(frozen=True)
class Seen:
    """What one or several runs of a program showed."""

    rungs: Mapping[str, str] = field(default_factory=dict)  # outcome by name
    reasons: Mapping[str, str] = field(default_factory=dict)  # why a rung crashed
    findings: tuple[str, ...] = ()
    crash: str = ""  # how it ended, where it ended badly
    stopped: bool = False  # it ran out of time
    returns: tuple[float, ...] = ()
    calls: Mapping[str, int] = field(default_factory=dict)  # of the function: counted, same, different, raised
    trouble: str = ""  # why the reference could not take its place
    runs: int = 1

    @property
    def symptoms(self) -> tuple[str, ...]:
        """In words, the same words for the same symptom."""
        rungs = [f"probe {name}" for name, outcome in self.rungs.items() if outcome in BAD]
        return (*rungs, *(f"finding {each}" for each in self.findings), *(["crash"] if self.crash else []))

    def undecided(self, symptom: str) -> bool:
        kind, _, name = symptom.partition(" ")
        return kind == "probe" and self.rungs.get(name) not in (*BAD, "passed")

    @property
    def mean_return(self) -> float | None:
        """Of the last episodes."""
        last = self.returns[-self.episodes :] if self.episodes else ()
        return sum(last) / len(last) if last else None

    @property
    def episodes(self) -> int:
        """How many those are."""
        return max(min(len(self.returns), 10), int(LAST * len(self.returns)))

    def to_dict(self) -> dict[str, Any]:
        return {
            "symptoms": list(self.symptoms),
            "rungs": dict(self.rungs),
            "reasons": dict(self.reasons),
            "findings": list(self.findings),
            "crash": self.crash,
            "stopped": self.stopped,
            "episodes": len(self.returns),
            "mean_return": self.mean_return,
            "calls": dict(self.calls),
            "runs": self.runs,
        }


@dataclass(frozen=True)
class Transplant:
    """What came of it. `after` is None where nothing was wrong before, so that nothing could go away."""

    verification: Verification
    program: tuple[str, ...]
    before: Seen
    after: Seen | None
    verdict: Verdict
    gone: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    new: tuple[str, ...] = ()

    @property
    def said(self) -> str:
        name = self.verification.target.rpartition(":")[2]
        if self.verdict == "gone":
            return f"the symptom goes away: the mistake is in {name}"
        if self.verdict == "stays":
            return f"the symptom stays: look elsewhere ({name} is not it, or not alone)"
        if self.verdict == "partly":
            return f"part of the symptom goes away: one mistake is in {name}, and there is another"
        if self.verdict == "unclear":
            return "no telling: with the reference in its place, the program shows something else"
        looked = "no probe failed" if self.before.rungs else "no finding, no crash"
        return f"there was no symptom to begin with: {looked}"
