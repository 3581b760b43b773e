"""A file of the program is no valid Python."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ProgramDoesNotParse(Rule):
    """A file of the program is no valid Python.

    ## What it checks
    The program ended with a `SyntaxError`, an `IndentationError` or a `TabError` in a file of the user's own.

    ## Why it matters
    Nothing of that file has run: neither training nor what is installed has to do with it.

    ## Likely causes
    1. A bracket or a quote was opened and not closed, often on the line above. Confirm: look at the line before it.
    2. The program was written for a newer Python, like `match`, or `except*`. Confirm: print `sys.version`.
    3. Marks of a merge, or commands of a notebook (`!pip`, `%matplotlib`), are left in it. Confirm: search for them.

    ## What to try first
    Run `python -m py_compile` on the file, until it says nothing.

    ## When it is fine
    Never: the program has ended.

    ## References
    Python, *Errors and exceptions*.
    """

    code: ClassVar[str] = "EVA460"
    name: ClassVar[str] = "program-does-not-parse"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        at = evidence.at
        own = at is not None and at is evidence.last and not at.file.startswith("<")
        return own and evidence.is_a("SyntaxError", "IndentationError", "TabError")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence) or evidence.at is None:
            return
        source = evidence.at.source
        yield self.finding(
            f"{evidence.at.place} is no valid Python",
            where=evidence.where,
            seen=evidence.said + (f", in `{source}`" if source else ""),
            expected="a file that Python can read; none of it has run",
            help=_help(evidence, source),
            confidence=0.95,
        )


def _help(crash: Crash, source: str) -> str:
    if source.startswith(("<<<<<<<", "=======", ">>>>>>>")):
        return "finish the merge: choose one of the two versions, and delete the marks"
    if source.startswith(("!", "%")):
        return "this is a command of a notebook: leave it out of a script"
    if crash.is_a("IndentationError", "TabError"):
        return "indent the line as its neighbours are, with spaces alone"
    if crash.says("never closed", "unterminated", "unexpected EOF", "EOL while"):
        return "close the bracket or the quote that this line opens"
    return "look at the line, and at the end of the one above it: a bracket, a quote, a colon or a comma"
