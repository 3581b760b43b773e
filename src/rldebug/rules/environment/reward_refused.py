"""The reward is not one finite number."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class RewardRefused(Rule):
    """The reward is not one finite number.

    ## What it checks
    A checker of environments found a reward that is NaN, infinite, or no number: an array, a tensor, None.

    ## Why it matters
    One NaN in a return makes every weight NaN. An array changes the shape of everything that is computed from it.

    ## Likely causes
    1. The reward is computed from an array and keeps its axis. Confirm: print `np.shape(reward)`.
    2. A tensor, perhaps with its graph, is returned. Confirm: print its type.
    3. A logarithm, root or division in the reward gives NaN or infinity. Confirm: print its parts.

    ## What to try first
    Return `float(reward)`, and look at what it is computed from where it is not finite.

    ## When it is fine
    Never: the program has ended.

    ## References
    Gymnasium, `Env.step`.
    """

    code: ClassVar[str] = "ENV442"
    name: ClassVar[str] = "reward-refused"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says("The reward is an? (NaN|inf) value", r"The reward returned by `step\(\)` must be a float")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        kind = re.search(r"actual type: <class '([\w.]+)'>", evidence.message)
        odd = re.search(r"is an? (NaN|inf) value", evidence.message)
        what = odd[1] if odd else f"a {kind[1]}" if kind else "no number"
        layers = [fact.get("layers", []) for _, _, fact in evidence.held("environment")]
        own = next((layer for each in layers for layer in reversed(each) if layer.get("file")), None)
        home = f"; {own['type']}.step is at {Path(own['file']).name}:{own['line']}" if own else ""
        yield self.finding(
            f"step() returned a reward that is {what}",
            where=evidence.where,
            seen=f"{evidence.said}{home}",
            expected="one finite number",
            help="look at the parts it is computed from: a division by 0, a root or logarithm of what is not positive"
            if odd
            else "return float(reward); sum over its axis first where it has one",
            confidence=0.95,
        )
