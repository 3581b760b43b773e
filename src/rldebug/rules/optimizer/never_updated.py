"""The program plays to its end, and never takes a step of an optimizer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class NeverUpdated(Rule):
    """The program plays to its end, and never takes a step of an optimizer.

    ## What it checks
    An optimizer was made for a network, thousands of steps were taken in the environment, the program came to its
    end, and no optimizer took a step. Programs that read weights from a file, compile their update, or start other
    processes are not judged. Exact.

    ## Why it matters
    Nothing was learned.

    ## Likely causes
    1. The condition for an update is never met: a replay buffer that never holds enough, a warm-up longer than the run,
       a batch larger than the buffer. Confirm: print the condition.
    2. `optimizer.step()` is missing. Confirm: search for it.
    3. The update is in a branch of a flag, such as `if not evaluate`. Confirm: print the flag.

    ## What to try first
    Put a print at the first line of the update.

    ## When it is fine
    A program that only collects, or only tests, what it does not train.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain*.
    """

    code: ClassVar[str] = "OPT316"
    name: ClassVar[str] = "never-updated"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    env_steps: int = 2000  # a shorter run may be a trial
    played: float = 0.5  # of the steps, after which weights that are read are only tried out

    def check(self, evidence: Script) -> Iterator[Finding]:
        counts = evidence.counts
        if evidence.meta.get("state") != "finished" or int(counts.get("env_steps") or 0) < self.env_steps:
            raise NotEnough(f"the program did not come to its end, or took fewer than {self.env_steps} steps")
        if self._brought_along(evidence) or any(evidence.noted(each) for each in ("compile", "thread")):
            raise NotEnough("weights came out of a file, or updates may have been taken out of sight")
        made = {key: each for key, each in evidence.optimizers.items() if each.get("tensors")}
        if counts.get("updates") or not made or any(each.get("steps") for each in made.values()):
            return
        if "optimizers" in (counts.get("broken") or {}) or "optimizers" in (counts.get("off") or ()):
            return
        name, each = next(iter(made.items()))
        created = each.get("created")
        yield self.finding(
            "no optimizer took a single step in the whole run",
            where=Where(file=created[0], line=created[1]) if created else None,
            seen=f"{counts['env_steps']} steps in the environment, 0 steps of {each['class']} {name}",
            expected="updates along the way",
            help="print the condition in front of the update: what it waits for never comes",
            confidence=0.95,
        )

    def _brought_along(self, script: Script) -> bool:
        """Weights came out of a file, and not at the end, of what the program has saved itself."""
        until = self.played * int(script.counts.get("env_steps") or 0)
        saved = [int(each.get("env_step") or 0) for each in script.noted("save")]
        read = [
            int(each.get("env_step") or 0)
            for each in (*script.noted("restored"), *script.noted("load"))
            if each["kind"] == "restored" or each.get("what") == "file"
        ]
        return any(each < until or not any(one <= each for one in saved) for each in read)
