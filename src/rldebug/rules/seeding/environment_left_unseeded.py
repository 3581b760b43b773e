"""The libraries are seeded, and the environment is not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.worlds import name_of, training_streams
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EnvironmentLeftUnseeded(Rule):
    """The libraries are seeded, and the environment is not.

    ## What it checks
    The program seeds torch, and NumPy or Python beside it, before the environment that it trains in is first reset. No
    reset of that environment had a seed, and its own generator, which it drew from, was made with a seed of the
    operating system: a number of 128 bits that is another one in each run.

    ## Why it matters
    Two runs with the same seed begin in other states and part at once. A comparison of two versions is one of two
    environments.

    ## Likely causes
    1. `env.reset()` where `env.reset(seed=seed)` belongs, the first time. Confirm: print the first observation in two
       runs.
    2. `np.random.seed` is thought to reach the environment. Confirm: Gymnasium's environments draw from a generator of
       their own.

    ## What to try first
    `env.reset(seed=seed)` at the first reset, and only there.

    ## When it is fine
    Where runs need not be repeated; then the other seeds are not needed either. A program that seeds one of the
    environments it trains in, and leaves out one that comes later, is not reported.

    ## References
    openai/spinningup pull request 310. Seen in the wild: SEE-04 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "SEE490"
    name: ClassVar[str] = "environment-left-unseeded"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    def check(self, evidence: Script) -> Iterator[Finding]:
        if not evidence.counts.get("updates") or evidence.counts.get("late"):
            raise NotEnough("no optimizer step was seen, or the program had begun before it was watched")
        if "seeds" in evidence.counts.get("off", ()) or "capture/seeds" in evidence.counts.get("broken", {}):
            raise NotEnough("seeds were not watched")
        seeded = {str(each.get("what")) for each in evidence.noted("seed") if not each.get("env_step")}
        if "torch" not in seeded or not seeded & {"numpy", "python"}:
            raise NotEnough("torch and another library were not both seeded before the first step")
        if seeded & {"env", "environment"}:
            return
        trained = training_streams(evidence)
        if any(each is not None for stream in trained for each in stream.get("seeds") or ()):
            return  # an environment that comes later, for a second sitting or a harder task, goes on from others
        for stream in trained:
            left = (stream.get("facts") or {}).get("unseeded_generator")
            if left and all(each is None for each in stream.get("seeds") or ()):
                yield self.finding(
                    "the libraries are seeded, and the environment is not",
                    seen=f"a seed for {' and '.join(sorted(seeded & {'torch', 'numpy', 'python'}))}, and none for "
                    f"{name_of(stream)}, whose generator took one from the operating system",
                    expected="the environment seeded at its first reset",
                    help="env.reset(seed=seed) at the first reset",
                    confidence=0.9,
                )
                return
