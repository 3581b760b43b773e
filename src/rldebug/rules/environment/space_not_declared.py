"""The environment declares no observation or action space."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.bound import class_named
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class SpaceNotDeclared(Rule):
    """The environment declares no observation or action space.

    ## What it checks
    An environment was asked for `observation_space` or `action_space`, and has none.

    ## Why it matters
    Everything that is made for an environment, from buffers to networks, is made from its spaces.

    ## Likely causes
    1. `__init__` does not set it, or under another name. Confirm: look at it.
    2. A wrapper was asked before `super().__init__(env)` had run. Confirm: look at the order.
    3. It is a multi-agent environment, whose spaces are functions of the agent. Confirm: print its type.

    ## What to try first
    Set `self.observation_space` and `self.action_space` in `__init__`.

    ## When it is fine
    Never: the program has ended.

    ## References
    Gymnasium, *Create a custom environment*.
    """

    code: ClassVar[str] = "ENV444"
    name: ClassVar[str] = "space-not-declared"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        if evidence.says(r"'(NoneType|int|float|str|list|tuple|dict|function|type|method)' object has no"):
            return False  # no environment at all
        return evidence.says(
            r"has no attribute '(single_)?(observation|action)_space'",
            r"The environment must specify an (action|observation) space",
            r"You must specify an (action|observation) space",
            r"(action|observation) space (does not inherit|must inherit) from `?gymnasium\.spaces",
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        space = "observation_space" if "observation" in evidence.message else "action_space"
        single = evidence.says("'single_")
        named = re.search(r"'(\w+)' object", evidence.message)
        own = [layer for _, _, fact in evidence.held("environment") for layer in fact["layers"] if "classes" in layer]
        kind = named[1] if named else own[0]["type"] if own else ""
        defined = class_named(evidence, kind)
        home = f"; {kind} is defined at {Path(defined[0]).name}:{defined[1].lineno}" if defined else ""
        yield self.finding(
            f"the environment {kind}{' ' if kind else ''}declares no {'single_' if single else ''}{space}",
            where=evidence.where,
            seen=f"{evidence.said}{home}",
            expected=f"a {space} from the moment it is made",
            help=f"only vector environments have single_{space}: write {space}, or make the environment with make_vec()"
            if single
            else f"set self.{space} = gymnasium.spaces.… in __init__; in a wrapper call super().__init__(env) first",
            confidence=0.9,
        )
