"""The environment that is trained in is played by another loop in between."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.worlds import fact, name_of, training_streams
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TrainingEnvPlayedInBetween(Rule):
    """The environment that is trained in is played by another loop in between.

    ## What it checks
    An environment that is learned from is reset properly after nearly every end, but now and then it is stepped
    after an end without a reset: the loop that trains goes on where it believed the episode to be, while another
    one has played it to an end. Once is enough where episodes with seeds of their own were played in between.

    ## Why it matters
    The action is chosen for an observation that is long gone, and the step after an end is undefined. The
    transition that is learned never happened.

    ## Likely causes
    1. The evaluation plays the training environment and leaves it at the end of an episode. Confirm: `eval_env is
       env`.
    2. A rendering or a logging function steps it. Confirm: the same.

    ## What to try first
    Make an environment of its own for the evaluation.

    ## When it is fine
    A loop that always resets before it goes on; then nothing is stepped after an end.

    ## References
    Bug kind EVA-03 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "EVA351"
    name: ClassVar[str] = "training-env-played-in-between"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    follows: ClassVar[tuple[str, ...]] = (
        "ENV300",
        "ENV003",
    )

    times: int = 3  # that it was stepped after an end
    rare: float = 0.4  # of the ends, and less

    def check(self, evidence: Script) -> Iterator[Finding]:
        most = 0
        for stream in training_streams(evidence):
            after, ends = int(stream.get("stepped_after_end") or 0), int(stream.get("episodes") or 0)
            most = max(most, ends)
            least = 1 if _seeded_in_between(stream) else self.times
            if int(stream.get("lanes") or 1) != 1 or fact(stream, "resets_itself") or after < least:
                continue
            if after > self.rare * ends or int(stream.get("resets") or 0) < 0.5 * ends:
                continue
            yield self.finding(
                f"{name_of(stream)}, which is trained in, is played by another loop in between",
                where=Where(),
                seen=f"{after} times a step after an end, while {ends - after} other ends were followed by a reset",
                expected="a reset after every end",
                help="make an environment of its own for the evaluation, or reset when training goes on",
                confidence=0.8,
            )
            return
        if most < 2 * self.times:
            raise NotEnough(f"{most} episodes of an environment that is learned from, needs {2 * self.times}")


def _seeded_in_between(stream: Mapping[str, Any]) -> bool:
    """Episodes with seeds of their own, two or more on end, among others without: chosen ones, as for a comparison."""
    given = [each is not None for each in stream.get("seeds") or ()]
    free = [place for place, each in enumerate(given) if not each]
    runs = [place for place in range(1, len(given)) if given[place - 1] and given[place]]
    return any(free[0] < place - 1 and place < free[-1] for place in runs) if free else False
