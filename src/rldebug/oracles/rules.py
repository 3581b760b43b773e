"""Every known mistake is a rule that reads Verification: it has a code, a page, and is found like any other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from rldebug.evidence.verification import Verification
from rldebug.finding import Finding, Severity
from rldebug.oracles.oracle import Mistake, Oracle
from rldebug.oracles.shelf import oracles
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class Mismatch(Rule):
    """A function differs from the reference of its component. Made for each oracle by `rules`."""

    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Verification"
    oracle: ClassVar[Oracle]
    mistake: ClassVar[Mistake | None] = None

    @classmethod
    def page(cls) -> str:
        return _mismatch_page(cls.oracle) if cls.mistake is None else _mistake_page(cls.oracle, cls.mistake)

    def concerns(self, evidence: Verification) -> bool:
        return evidence.oracle == self.oracle.name and evidence.outcome != "unusable"

    def check(self, evidence: Verification) -> Iterator[Finding]:
        if evidence.outcome != "wrong":
            return
        if self.mistake is None:
            if not evidence.matched:
                yield self._found(evidence, evidence.message, _follow(self.oracle, evidence), 0.95)
        elif self.name in evidence.matched:
            message = self.mistake.summary[:1].lower() + self.mistake.summary[1:].rstrip(".")
            if self.mistake.summary[1:2].isupper():  # V(s_t), TD: no word at the start of a sentence
                message = self.mistake.summary.rstrip(".")
            yield self._found(evidence, message, self.mistake.fix, 0.98 if len(evidence.matched) == 1 else 0.9)

    def _found(self, evidence: Verification, message: str, help: str, confidence: float) -> Finding:
        return self.finding(
            message,
            seen=evidence.seen or "another answer than the reference's",
            expected=evidence.expected or self.oracle.formula or self.oracle.summary,
            help=help,
            where=evidence.where,
            confidence=confidence,
        )


@lru_cache(maxsize=1)
def rules() -> tuple[type[Rule], ...]:
    """For every oracle: one for each mistake, and one for what no known mistake explains."""
    return tuple(_rule(oracle, mistake) for oracle in oracles() for mistake in (None, *oracle.mistakes))


def _rule(oracle: Oracle, mistake: Mistake | None) -> type[Rule]:
    name = f"{oracle.name}-mismatch" if mistake is None else mistake.name
    module = (oracle.examine or oracle.reference).__module__
    space: dict[str, Any] = {
        "__module__": module,
        "__doc__": None,
        "code": oracle.code if mistake is None else mistake.code,
        "name": name,
        "oracle": oracle,
        "mistake": mistake,
    }
    return type("".join(part.title() for part in name.split("-")), (Mismatch,), space)


def _follow(oracle: Oracle, evidence: Verification) -> str:
    if evidence.table is None:
        return f"make it a function of its arguments that gives back what {oracle.name} is: {oracle.formula}"
    return f"follow the table by hand from the first row that differs; {oracle.formula or oracle.summary}"


def _mistake_page(oracle: Oracle, mistake: Mistake) -> str:
    return "\n".join(
        [
            mistake.summary,
            "",
            "## What it checks",
            f"`rldebug verify {oracle.name}` puts your function beside the reference. On every case it gave",
            "just what a function with this mistake gives.",
            "",
            "## Why it matters",
            mistake.harm,
            "",
            "## Likely causes",
            f"Wrong: `{mistake.wrong}`",
            "",
            f"Right: `{mistake.right}`",
            "",
            "## What to try first",
            mistake.fix[:1].upper() + mistake.fix[1:] + ".",
            "",
            "## When it is fine",
            mistake.fine,
            "",
            "## References",
            " ".join(part for part in (oracle.references, mistake.seen_in) if part) or oracle.summary,
        ]
    )


def _mismatch_page(oracle: Oracle) -> str:
    known = ", ".join(each.name for each in oracle.mistakes)
    return "\n".join(
        [
            f"A {oracle.name} differs, and no known mistake explains it.",
            "",
            "## What it checks",
            f"{oracle.summary} `rldebug verify {oracle.name}` puts your function beside the reference on small cases.",
            "",
            "## Why it matters",
            "What is computed from it is wrong from the first update on, whatever the curves look like.",
            "",
            "## Likely causes",
            f"1. None of the mistakes it is compared with, alone or in pairs: {known}.",
            "2. Another convention than those tried. Confirm: the mapping that is printed; say another with `--map`.",
            "",
            "## What to try first",
            "Follow the printed table by hand, from the first row that differs"
            + (f": {oracle.formula}." if oracle.formula else "."),
            "",
            "## When it is fine",
            "Where the function is meant to compute something else.",
            "",
            "## References",
            oracle.references or oracle.summary,
        ]
    )
