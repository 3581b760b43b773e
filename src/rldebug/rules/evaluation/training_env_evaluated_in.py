"""The evaluation plays inside the environment that is trained in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.roles import roles_of
from rldebug.forensics.worlds import fact, learned_from, name_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TrainingEnvEvaluatedIn(Rule):
    """The evaluation plays inside the environment that is trained in.

    ## What it checks
    An environment that the program plays by itself is, innermost, one and the same object as one that it trains in;
    and training goes on after it was played.

    ## Why it matters
    The training loop goes on with an observation that is long gone, in an episode that another loop has ended. The
    transitions that follow never happened.

    ## Likely causes
    1. The training environment is handed to the evaluation or to a callback. Confirm: compare the innermost
       environments with `is`.

    ## What to try first
    Make an environment of its own for the evaluation.

    ## When it is fine
    After training has ended it does no harm, and is not counted.

    ## References
    Bug kind EVA-03 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "EVA354"
    name: ClassVar[str] = "training-env-evaluated-in"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    times: int = 2  # between different updates
    left: float = 0.95  # of all updates, by which it was played

    def check(self, evidence: Script) -> Iterator[Finding]:
        main = next((each for each in evidence.streams if int(each["index"]) == roles_of(evidence).stream), None)
        updates = int(evidence.counts.get("updates") or 0)
        worlds = set(fact(main, "worlds") or ()) if main is not None else set()
        if not worlds or len(evidence.streams) < 2 or not updates:
            raise NotEnough("no two environments were played, or nothing was learned")
        # Only while it lives: the place of one that is gone may be used again.
        trained = [int(each) for each in (main or {}).get("at") or ()]
        learned = learned_from(evidence)  # a view of its own on a world that others share
        first, last = min(trained, default=0), max(trained, default=0)
        for stream in evidence.streams:
            if stream is main or int(stream["index"]) in learned or not set(fact(stream, "worlds") or ()) & worlds:
                continue
            at = {int(each) for each in stream.get("at") or () if first < int(each) < min(self.left * updates, last)}
            if len(at) < self.times:
                continue
            yield self.finding(
                f"the evaluation plays inside {name_of(stream)}, which is trained in",
                where=Where(update=min(at)),
                seen=f"the same environment was played by itself after {len(at)} different updates, first at {min(at)}",
                expected="an environment of its own for the evaluation",
                help="make another environment for the evaluation",
                confidence=0.93,
            )
            return
