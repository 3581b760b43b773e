"""The loop goes on stepping an episode that has ended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class SteppedAfterEnd(Rule):
    """The loop goes on stepping an episode that has ended.

    ## What it checks
    After the environment reported `terminated` or `truncated`, `step()` was called again without a `reset()` in
    between, many times, and the environment went on reporting an end.

    ## Why it matters
    What an environment returns after an end is undefined: mostly the same last state with a reward of zero. The agent
    learns from it as if it were experience, and no new episode is ever begun.

    ## Likely causes
    1. No `reset()` after an end, or only after one of the two flags. Confirm: print `terminated` and `truncated` in the
       loop; both must lead to `env.reset()`.
    2. A frame-skip loop that goes on repeating the action after the end. Confirm: the count in the finding is a small
       multiple of the number of episodes (`episode/count`); leave the inner loop on either flag.
    3. The loop waits for a flag of its own (`done`) that the new five-value `step()` no longer sets. Confirm: look at
       how the result of `step()` is unpacked.

    ## What to try first
    Call `env.reset()` whenever `terminated or truncated` is true.

    ## When it is fine
    The environment resets itself inside `step()`: then the steps after an end are not flagged as ends again, and the
    rule stays quiet. One-step environments that never need a reset are left alone too.

    ## References
    Gymnasium documentation, *Env.step* ("undefined results" after an end). Nikanjam et al., *Faults in deep
    reinforcement learning programs* (missing reset).
    """

    code: ClassVar[str] = "ENV003"
    name: ClassVar[str] = "stepped-after-end"
    severity: ClassVar[Severity] = "error"
    aim: ClassVar[str] = "acted"
    facts: ClassVar[tuple[str, ...]] = ("env",)

    steps: int = 20  # steps after an end that are more than a slip
    flagged: float = 0.5  # share of them flagged as an end again; an env that resets itself stays far below

    def check(self, evidence: Run) -> Iterator[Finding]:
        recorded = [(reading, env) for reading, env in evidence.facts("env") if env.get("stepped_after_end")]
        if not recorded:
            return
        first, (last, env) = recorded[0][0], recorded[-1]
        after, again = int(env["stepped_after_end"]), int(env.get("ended_again", 0))
        one_step = evidence["episode/length_max"].max() <= 1
        if after < self.steps or again < self.flagged * after or one_step:
            return
        yield self.finding(
            "the environment is stepped after its episode has ended",
            where=Where(update=first.update, env_step=first.env_step),
            seen=f"{after} steps after an end without a reset by update {last.update}, {again} of them flagged as an "
            f"end again; {int(evidence['episode/count'].finite.value.sum())} episodes were seen to end",
            expected="a reset() after every terminated or truncated",
            help="call env.reset() whenever terminated or truncated is true, and go on from the observation it returns",
            confidence=0.97,
        )
