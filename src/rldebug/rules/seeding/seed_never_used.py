"""A seed is given, and no line uses it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class SeedNeverUsed(Rule):
    """A seed is given, and no line uses it.

    ## What it checks
    The source of the program, when it has ended. An option, a constant or a field of a config called `seed` is used in
    no line: it is at most handed on under the same name, or printed. And no generator was seeded with that number.

    ## Why it matters
    Runs with different seeds are as different as runs with the same one: what is reported as a repeatable result is
    not.

    ## Likely causes
    1. The option was added, and the call that seeds was not. Confirm: look for `manual_seed`.

    ## What to try first
    `torch.manual_seed(seed)`, `np.random.seed(seed)`, and `env.reset(seed=seed)` at the first reset.

    ## When it is fine
    Never. Take the option away, or use it.

    ## References
    openai/spinningup pull request 310 (environments never seeded).
    """

    code: ClassVar[str] = "SEE390"
    name: ClassVar[str] = "seed-never-used"
    severity: ClassVar[Severity] = "warning"
    status: ClassVar[Literal["stable", "nursery"]] = "nursery"  # a setting may be left over on purpose
    reads: ClassVar[str] = "Script"

    def check(self, evidence: Script) -> Iterator[Finding]:
        if "arguments" in evidence.counts.get("off", ()) or not evidence.counts.get("updates"):
            raise NotEnough("options were not watched, or nothing was trained")
        used = {each.get("value") for each in evidence.noted("seed")}
        used |= {seed for each in evidence.streams for seed in each.get("seeds", ())}
        for note in evidence.noted("option"):
            if note["name"].lower() not in ("seed", "random_seed") or note["read"] != 0 or note["where"] == "parameter":
                continue
            if not isinstance(note.get("value"), int) or isinstance(note["value"], bool) or note["value"] in used:
                continue
            line = note.get("line")
            yield self.finding(
                "a seed is given and used nowhere",
                where=Where(file=line[0], line=line[1]) if line else Where(),
                seen=f"`{note['name']}` = {note['value']} is read in no line of the program, and nothing was seeded "
                "with it",
                expected="the number in a call that seeds",
                help=f"call torch.manual_seed({note['name']}) and reset the environment with it once",
                confidence=0.8,
            )
            return
