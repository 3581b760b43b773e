"""Worker processes are started where every import starts them again."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import calls_of
from rldebug.syntax.names import argument, constant, library, resolved
from rldebug.syntax.places import Function, above, calls

_SPAWNS = (
    "stable_baselines3.common.vec_env.SubprocVecEnv",
    "stable_baselines3.common.vec_env.subproc_vec_env.SubprocVecEnv",
    "torch.multiprocessing.spawn",
    "torchrl.envs.ParallelEnv",
    "torchrl.collectors.MultiSyncDataCollector",
    "torchrl.collectors.MultiaSyncDataCollector",
)
_MAY_SPAWN = ("gymnasium.vector.AsyncVectorEnv", "multiprocessing.Process", "torch.multiprocessing.Process")
_DEEPEST = 4


@dataclass(frozen=True, kw_only=True)
class WorkersStartedOnImport(Rule):
    """Worker processes are started where every import starts them again.

    ## What it checks
    `SubprocVecEnv`, `torch.multiprocessing.spawn`, TorchRL's `ParallelEnv` and the like are called at the top of a
    file, or in a function that is called there, with no `if __name__ == "__main__":` around. `AsyncVectorEnv` and
    `Process` count where the start method is set to spawn or forkserver; else they are worth a note. Read from the
    source.

    ## Why it matters
    Each worker imports the file, and would start workers of its own: Python stops it with "an attempt has been made to
    start a new process before the current process has finished its bootstrapping phase".

    ## Likely causes
    1. The guard is missing. Confirm: read the end of the file.

    ## What to try first
    Put what the program does into `main()`, and call it under `if __name__ == "__main__":`.

    ## When it is fine
    On Linux with the start method fork; in a notebook.

    ## References
    Python, *multiprocessing*: safe importing of main module.
    """

    code: ClassVar[str] = "MPR642"
    name: ClassVar[str] = "workers-started-on-import"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("MPR404", "MPR402")

    def check(self, evidence: Source) -> Iterator[Finding]:
        told = _start_method(evidence)
        for call in calls(evidence):
            sure = _surely(evidence, call, told)
            if sure is None or not _runs_on_import(evidence, call, _DEEPEST):
                continue
            yield self.finding(
                "workers are started on import: each of them would start them again",
                where=evidence.at(call),
                seen=f'{evidence.quoted(call)}, and no if __name__ == "__main__": around it',
                expected="workers that are started by the program, not by the import of its file",
                help='if __name__ == "__main__": around what the program does',
                confidence=0.93 if sure else 0.8,
                severity=None if sure else "note",
            )


def _surely(source: Source, call: ast.Call, told: str) -> bool | None:
    """Whether the call starts fresh interpreters; None where it starts no process."""
    name = library(source, call)
    own = constant(argument(call, 1, "start_method", "context")) if name.endswith("Env") else None
    method = own if isinstance(own, str) else told
    if own == "fork":
        return None
    if name in _SPAWNS:
        return True
    if name.endswith(".make_vec_env"):
        workers = argument(call, 5, "vec_env_cls")
        return True if workers is not None and resolved(source, workers) in _SPAWNS else None
    if name in _MAY_SPAWN:
        return method in ("spawn", "forkserver") if method != "fork" else None
    return None


def _start_method(source: Source) -> str:
    for call in calls(source):
        if library(source, call).rpartition(".")[2] == "set_start_method":
            told = constant(argument(call, 0, "method"))
            return told if isinstance(told, str) else ""
    return ""


def _runs_on_import(source: Source, node: ast.AST, depth: int) -> bool:
    for each in above(source, node):
        if isinstance(each, ast.Lambda) or (isinstance(each, ast.If) and _is_guard(each)):
            return False
        if isinstance(each, Function):
            known = calls_of(source, each) if depth > 0 else ()
            return any(_runs_on_import(source, call, depth - 1) for call in known)
    return True


def _is_guard(node: ast.If) -> bool:
    return any(isinstance(each, ast.Name) and each.id == "__name__" for each in ast.walk(node.test))
