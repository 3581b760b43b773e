"""All lanes of a vector step one and the same environment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.worlds import fact, name_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class LanesShareOneEnvironment(Rule):
    """Several lanes of a vector are one environment.

    ## What it checks
    The environments inside a vector, as objects: fewer than there are lanes. Exact.

    ## Why it matters
    Each lane moves the state of the others. An observation is followed by what another lane did, a reset in one lane
    ends the episode of all, and no transition that is learned from has happened.

    ## Likely causes
    1. The environment is made once, outside, and each function returns it: `[lambda: env] * n`. Confirm: look at what
       is called in these functions.
    2. A list is made with `[make()] * n`. Confirm: print the identities.

    ## What to try first
    Make a new environment inside each function.

    ## When it is fine
    Never: lanes are played as if they were independent.

    ## References
    Gymnasium documentation, *SyncVectorEnv* (functions that create the environments).
    """

    code: ClassVar[str] = "ENV303"
    name: ClassVar[str] = "lanes-share-one-environment"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "made"

    steps: int = 1  # that were played so

    def check(self, evidence: Script) -> Iterator[Finding]:
        seen = [each for each in evidence.streams if isinstance(fact(each, "instances"), int)]
        if not seen:
            raise NotEnough("no vector was seen whose environments lie in this process")
        for stream in seen:
            lanes, instances = int(stream.get("lanes") or 1), int(fact(stream, "instances"))
            if not 0 < instances < lanes or int(stream["steps"]) < self.steps:
                continue
            yield self.finding(
                "lanes of the vector are one and the same environment",
                seen=f"{lanes} lanes of {name_of(stream)} are {instances} environment{'s' if instances > 1 else ''}",
                expected="an environment of its own in each lane",
                help="make a new environment inside each function that the vector is given",
                confidence=0.99,
            )
            return
