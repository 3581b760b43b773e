"""No random generator was seeded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class UnseededRun(Rule):
    """Nothing in the program is seeded.

    ## What it checks
    No generator of torch, NumPy or Python was seeded, and no environment was reset with a seed, though the program
    trained. A program that has generators of its own is left out.

    ## Why it matters
    The run cannot be repeated. A change that seems to help may be luck, and a bug that was seen once cannot be seen
    again.

    ## Likely causes
    1. Nobody thought of it. Confirm: run twice and compare the first losses.
    2. The option for the seed is not used. Confirm: look for its name.

    ## What to try first
    `torch.manual_seed(seed)`, `np.random.seed(seed)`, `random.seed(seed)` and `env.reset(seed=seed)`, once each.

    ## When it is fine
    Where nothing needs to be repeated. This is a note.

    ## References
    openai/spinningup pull request 310 (environments never seeded).
    """

    code: ClassVar[str] = "SEE301"
    name: ClassVar[str] = "unseeded-run"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "Script"

    def check(self, evidence: Script) -> Iterator[Finding]:
        if not evidence.counts.get("updates"):
            raise NotEnough("no optimizer step was seen")
        if "seeds" in evidence.counts.get("off", ()) or "capture/seeds" in evidence.counts.get("broken", {}):
            raise NotEnough("seeds were not watched")
        if evidence.counts.get("late"):
            raise NotEnough("the program had begun before it was watched: what it seeded by then is not known")
        if any(each.get("what") == "process" for each in evidence.noted("thread")):
            raise NotEnough("processes were started, and what they seed was not watched")
        if evidence.noted("seed") or any(
            seed is not None for each in evidence.streams for seed in each.get("seeds", ())
        ):
            return
        yield self.finding(
            "nothing is seeded",
            seen=f"{evidence.counts['updates']} updates, and no call that seeds a generator or an environment",
            expected="torch, NumPy and the environment seeded once",
            help="call torch.manual_seed(seed) and env.reset(seed=seed) before training",
            confidence=0.95,
        )
