"""A wrapper that changes observations is around the environment of training, and not around that of the evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.evaluated_inputs import given
from rldebug.forensics.worlds import Stream, evaluation_streams, fact, name_of, training_streams, wrappers
from rldebug.rule import NotEnough, Rule

_OUT_OF_SIGHT = ("AsyncVectorEnv", "SubprocVecEnv")


@dataclass(frozen=True, kw_only=True)
class WrapperMissingInEvaluation(Rule):
    """The environment of the evaluation lacks a wrapper that training has.

    ## What it checks
    Wrappers that change observations and draw nothing, around the environment that is learned from and around one of
    the same kind that is only played: one of them is missing there, and the network is given what that environment
    shows, as it comes.

    ## Why it matters
    The network is asked about observations in other units than it was trained with. The score says nothing about what
    was learned.

    ## Likely causes
    1. The environment of the evaluation is made by hand, not by the function that makes the others. Confirm: print
       both, wrappers show.
    2. A flag leaves the wrapper out where it is not training. Confirm: the same.

    ## What to try first
    Make both environments with one function; leave out there only what changes rewards or ends.

    ## When it is fine
    The wrapper makes training harder on purpose.

    ## References
    Seen in the wild: EVA-10 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "EVA357"
    name: ClassVar[str] = "wrapper-missing-in-evaluation"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    follows: ClassVar[tuple[str, ...]] = ("NRM301", "NRM361", "NRM362")

    steps: int = 8  # of the evaluation, with what the network was given
    raw: float = 0.95  # share of them that it was given as they came

    def check(self, evidence: Script) -> Iterator[Finding]:
        chosen = evaluation_streams(evidence)
        played = [each for each in evidence.streams if int(each["index"]) in chosen]
        inputs = [each for each in given(evidence)[1] if len(each.obs) >= self.steps]
        if not played or not inputs:
            raise NotEnough("no network was seen acting in an evaluation")
        if any(each.raw < self.raw for each in inputs):
            return  # the program changes observations itself
        for mine in training_streams(evidence):
            for test in played:
                missing = _missing(mine, test)
                if missing:
                    yield self.finding(
                        f"the environment of the evaluation lacks {', '.join(missing)}",
                        seen=f"{name_of(test)} is learned from in {_chain(mine)}, and played in {_chain(test)}",
                        expected="observations as in training",
                        help="make both with one function",
                        confidence=0.85,
                    )
                    return


def _missing(mine: Stream, test: Stream) -> list[str]:
    if any(fact(mine, name) != fact(test, name) for name in ("class", "obs_shape")):
        return []
    if any(each in _OUT_OF_SIGHT for each in wrappers(test)):
        return []
    theirs = set(fact(test, "reworks") or ())
    return [str(each) for each in fact(mine, "reworks") or () if each not in theirs]


def _chain(stream: Stream) -> str:
    return " > ".join([*wrappers(stream), str(fact(stream, "class") or name_of(stream))])
