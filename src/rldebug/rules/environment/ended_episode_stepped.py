"""An episode that has ended is stepped on, and ends again with every step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.worlds import fact, name_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EndedEpisodeStepped(Rule):
    """The loop goes on stepping an episode that has ended.

    ## What it checks
    Steps that were taken after an end without a reset in between, in an environment that does not reset itself; nearly
    each of them is flagged as an end again. Exact.

    ## Why it matters
    What a step returns after the end is undefined. From the first end on, every step is an episode of its own: the
    agent learns from a world that stands still.

    ## Likely causes
    1. No `reset()` after an end. Confirm: look at what the loop does when the episode is over.
    2. Only one of the two flags is looked at. Confirm: print `terminated` and `truncated`; both must lead to a reset.
    3. The loop waits for a flag of its own that is never set. Confirm: look at how the result of `step()` is unpacked.

    ## What to try first
    Call `env.reset()` whenever `terminated or truncated` is true, and go on from the observation it returns.

    ## When it is fine
    Environments whose every episode is one step long need no reset, and are left alone. So are those that reset
    themselves: after their end the next episode is as long as others.

    ## References
    Gymnasium documentation, *Env.step* ("undefined results" after an end). Nikanjam et al., *Faults in deep
    reinforcement learning programs* (missing reset).
    """

    code: ClassVar[str] = "ENV300"
    name: ClassVar[str] = "ended-episode-stepped"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "acted"

    steps: int = 20  # after an end: more than a slip
    again: float = 0.9  # share of them that end again at once
    longer: int = 3  # steps more than episodes

    def check(self, evidence: Script) -> Iterator[Finding]:
        if not any(each.get("episodes") for each in evidence.streams):
            raise NotEnough("no episode was seen to end")
        for stream in evidence.streams:
            after = int(stream.get("stepped_after_end") or 0)
            lengths = list(stream.get("lengths") or ())
            episodes = int(stream.get("episodes") or 0)
            # Where every episode is one step long no reset is needed. Of many episodes only some are kept.
            if after < self.steps or fact(stream, "resets_itself") or int(stream["steps"]) < episodes + self.longer:
                continue
            ones = sum(each == 1 for each in lengths) / max(len(lengths), 1) * episodes
            if ones < self.again * after or int(stream["resets"]) > episodes / 2:
                continue
            cut = int(stream.get("terminations") or 0) < episodes / 2
            flag = "truncated" if cut else "terminated"
            at = next((at for at, each in zip(stream.get("at") or (), lengths, strict=False) if each == 1), None)
            yield self.finding(
                "the environment is stepped after its episode has ended",
                where=Where(update=None if at is None else int(at)),
                seen=f"{after} of {stream['steps']} steps in {name_of(stream)} came after an end without a reset, "
                f"about {min(ones, after) / after:.0%} of them are flagged as an end ({flag}) again",
                expected="a reset() after every terminated or truncated",
                help="call env.reset() whenever terminated or truncated is true, and go on from the observation it "
                "returns",
                confidence=0.97,
            )
            return
