"""Something is sent to another process that cannot be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.sent import article, told_as
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import Rule

_REFUSED = (
    r"[Cc]an(no|')t pickle|Can't get (local object|attribute)|pickle local object|AuthenticationString"
    r"|should only be shared between processes|cannot be pickled|no default __reduce__"
)
_BETWEEN = (
    "multiprocessing",
    "cloudpickle",
    "torch.multiprocessing",
    "gymnasium.vector",
    "stable_baselines3.common.vec_env",
    "concurrent",
)


@dataclass(frozen=True, kw_only=True)
class CannotBeSentToWorker(Rule):
    """Something is sent to another process that cannot be.

    ## What it checks
    Pickling failed while a worker process was started or spoken to. In a live program the way to what cannot go is
    told, as `env.writer._lock`.

    ## Why it matters
    Another process gets a copy, made of bytes; locks, sockets, generators, windows and local functions have none.

    ## Likely causes
    1. The environment, or what its factory closes over, holds such an object: a writer, a logger's handler, a file.
       Confirm: look at the attribute that is named.
    2. A lambda or a local function is sent. Confirm: define it at the top of the file.
    3. The target is a method, and its whole object is sent with it. Confirm: give the worker a function instead.
    4. A queue or lock of `multiprocessing` is sent through a pipe. Confirm: give it to the process when it is
       started.
    5. The worker does not find a class or function: it was defined in a notebook, or under `if __name__`. Confirm:
       import it from a file.

    ## What to try first
    Make the object inside the worker, from plain settings.

    ## When it is fine
    Never: the program has ended.

    ## References
    Python, `multiprocessing`: programming guidelines; `pickle`: what can be pickled.
    """

    code: ClassVar[str] = "MPR401"
    name: ClassVar[str] = "cannot-be-sent-to-worker"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(_REFUSED) and evidence.inside(*_BETWEEN) and not evidence.inside("torch.serialization")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        sent = evidence.between.get("sent", {})
        path, kind = sent.get("path", ""), sent.get("type", "")
        holder = sent.get("holder", "")
        what = told_as(sent) or "something that was sent"
        lies = f"; {article(kind)} lies at {path}" if holder else ""
        lies += f"; it is written in {sent['made']}" if sent.get("made") else ""
        method = sent.get("method_of")
        whole = f"; the target is a method, so that its whole {method} is sent" if method else ""
        missing = re.search(r"Can't get attribute ('[\w.]+')", evidence.message)
        yield self.finding(
            f"the worker does not find {missing[1]}" if missing else f"{what} cannot be sent to another process",
            where=_where(evidence, str(sent.get("made", "")), kind),
            seen=f"{evidence.said}{lies}{whole}",
            expected="objects that can be pickled",
            help=_help(evidence, kind, holder or path, method),
            confidence=0.9,
        )


def _where(evidence: Crash, made: str, kind: str) -> Where:
    """The line of the lambda or the local function: it is what has to move."""
    file, _, line = made.rpartition(":")
    same = evidence.where.file is not None and Path(evidence.where.file).name == file
    movable = kind in ("lambda", "local function") and same and line.isdigit()
    return replace(evidence.where, line=int(line)) if movable else evidence.where


def _help(evidence: Crash, kind: str, path: str, method: str | None) -> str:
    if evidence.says("Can't get attribute"):
        return "define it at the top of a file that the worker can import, not in a notebook and not under a condition"
    if evidence.says("should only be shared between processes"):
        return "hand it to Process(args=…) when the worker is started, or use multiprocessing.Manager().Queue()"
    if kind in ("lambda", "local function") or evidence.says("local object|<function|<class"):
        return "define it at the top of the file; functools.partial carries settings along"
    if kind == "generator":
        return f"send list({path or 'it'}) instead of the generator"
    if method:
        return f"give the process a function at the top of the file and only what it needs of {method}"
    return f"make {path or 'it'} inside the worker, from plain settings, or leave it out in __getstate__"
