"""A space is asked for what its kind does not have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule

_ATTRIBUTE = (
    r"'(Box|Discrete|MultiDiscrete|MultiBinary|Dict|Tuple)' object has no attribute "
    r"'(n|high|low|nvec|spaces|shape|start)'"
)
_HELP = {
    "Box": "use space.shape[0] for the number of continuous actions and a Gaussian policy, or an environment with "
    "discrete actions",
    "Discrete": "use space.n: one output for each action, or a one-hot observation of that width "
    "(gymnasium.spaces.flatdim(space))",
}


@dataclass(frozen=True, kw_only=True)
class SpaceOfAnotherKind(Rule):
    """A space is asked for what its kind does not have.

    ## What it checks
    The size of a space was read as that of another kind: `n` of a box, `shape[0]` or `high` of a discrete one.

    ## Why it matters
    A discrete space has `n`, a box has `shape`, `low` and `high`. The network is built from them.

    ## Likely causes
    1. The program was written for the other kind of environment. Confirm: print the space.
    2. A wrapper that flattens or one-hot encodes is missing. Confirm: the same.

    ## What to try first
    Print the space, and branch on its kind where both are meant.

    ## When it is fine
    Never: the program has ended.

    ## References
    Gymnasium, *Spaces*; `gymnasium.spaces.flatdim`.
    """

    code: ClassVar[str] = "ENV453"
    name: ClassVar[str] = "space-of-another-kind"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        named = re.search(_ATTRIBUTE, evidence.message) is not None
        return named or _shapeless(evidence)

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        found = re.search(_ATTRIBUTE, evidence.message)
        kind = found[1] if found else "Discrete"
        which = f"a {kind} space has no {found[2]}" if found else "the shape of a discrete space is empty"
        yield self.finding(
            f"{which}",
            where=evidence.where,
            seen=f"{evidence.said}, in `{evidence.at.expression if evidence.at else ''}`{_spaces(evidence)}",
            expected="n of a Discrete, shape, low and high of a Box, nvec of a MultiDiscrete",
            help=_HELP.get(kind, "print the space, and use gymnasium.spaces.flatdim(space) for the width of a network"),
            confidence=0.95,
        )


def _shapeless(evidence: Crash) -> bool:
    """`space.shape[0]` where the space is discrete: its shape is ()."""
    if not (evidence.is_a("IndexError") and evidence.says("tuple index out of range") and evidence.at):
        return False
    read = re.search(r"(\w+)\.shape\[", evidence.at.expression or evidence.at.source)
    if read is None:
        return False
    environments = [fact for _, _, fact in evidence.held("environment")]
    spaces = [fact[read[1]] for fact in environments if isinstance(fact.get(read[1]), dict)]
    own = [fact for _, name, fact in evidence.held("space") if name.rpartition(".")[2] == read[1]]
    return any(each.get("shape") == [] for each in spaces) or any(each["type"] == "Discrete" for each in own)


def _spaces(evidence: Crash) -> str:
    for _, name, fact in evidence.held("environment"):
        told = [f"{each} {fact[each]['told']}" for each in ("observation_space", "action_space") if each in fact]
        if told:
            return f"; {name} has {', '.join(told)}"
    return ""
