"""A forked worker uses CUDA that its parent has begun to use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class CudaInForkedWorker(Rule):
    """A forked worker uses CUDA that its parent has begun to use.

    ## What it checks
    CUDA refused to begin in a process that was forked from one in which it had begun.

    ## Why it matters
    A fork copies the memory of the program, and not the state of the driver.

    ## Likely causes
    1. The model is moved to the GPU before the workers are started with fork. Confirm: print
       `torch.cuda.is_initialized()` before that line.
    2. The environment, or its wrapper, makes tensors on the GPU. Confirm: set its device to the CPU.
    3. A data loader's workers move their batch to the GPU. Confirm: move it after it has arrived.

    ## What to try first
    Start the workers with spawn, before CUDA is used, and keep CUDA out of them.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *CUDA semantics*; *Multiprocessing best practices*.
    """

    code: ClassVar[str] = "MPR452"
    name: ClassVar[str] = "cuda-in-forked-worker"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says("(?i)re-?initialize CUDA in forked subprocess")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "a forked worker uses CUDA that its parent has begun to use",
            where=evidence.where,
            seen=f"{evidence.said}{f', in `{evidence.at.source}`' if evidence.at and evidence.at.source else ''}",
            expected="workers on the CPU, or started with spawn",
            help='keep the environment and its tensors on the CPU; or start the workers with context="spawn" '
            '(start_method="spawn" in SubprocVecEnv), before the model goes to the GPU',
            confidence=0.95,
        )
