"""A setting that should be a number is a text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import reset_kept_whole
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class SettingIsText(Rule):
    """A setting that should be a number is a text.

    ## What it checks
    A text met a number: a learning rate, a discount or a number of steps that was read as text.

    ## Why it matters
    YAML reads `1e-4` as text: its floats need a point. Variables of the surroundings and arguments without a type
    are texts too.

    ## Likely causes
    1. A YAML file says `lr: 1e-4` instead of `1.0e-4`. Confirm: print `type(config["lr"])`.
    2. `add_argument` has no `type=float`. Confirm: look at the parser.
    3. It comes from `os.environ` or a sweep. Confirm: print its type.

    ## What to try first
    Write `1.0e-4` in YAML, `type=float` in the parser.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyYAML, issue 173; YAML 1.1, *Floating-point language-independent type*.
    """

    code: ClassVar[str] = "INS452"
    name: ClassVar[str] = "setting-is-text"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        met = evidence.says(
            "'[<>]=?' not supported between instances of '(float|int)' and 'str'",
            "'[<>]=?' not supported between instances of 'str' and '(float|int)'",
            r"unsupported operand type\(s\) for \S+: '(float|int)' and 'str'",
            r"unsupported operand type\(s\) for \S+: 'str' and '(float|int)'",
            "'str' object cannot be interpreted as an integer",
            "must be real number, not str",
        )
        return met or (
            evidence.says("can't multiply sequence by non-int of type 'float'") and not reset_kept_whole(evidence)
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        inside = "the optimizer's " if evidence.inside("torch.optim") else ""
        yield self.finding(
            f"{inside or 'a '}setting is a text, and should be a number",
            where=evidence.where,
            seen=f"{evidence.said}, in `{evidence.at.expression if evidence.at else ''}`",
            expected="numbers for learning rate, discount, steps and sizes",
            help="write 1.0e-4 instead of 1e-4 in YAML, type=float in add_argument, or float(value) where it is read",
            confidence=0.85,
        )
