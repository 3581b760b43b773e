"""The network is fed something that is not a tensor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import operands_told, reset_kept_whole
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ObservationNotATensor(Rule):
    """The network is fed something that is not a tensor.

    ## What it checks
    A layer was given an array, a list or a dict; or something that cannot be turned into a tensor was to become one.

    ## Why it matters
    Observations leave the environment as NumPy arrays, dicts or tuples, and networks take tensors.

    ## Likely causes
    1. The conversion is missing where the program acts. Confirm: print the type of what is fed.
    2. The observation is a dict or holds parts of different shapes, and is converted as a whole. Confirm: the same.
    3. Some rows are None. Confirm: the same.

    ## What to try first
    Convert with `torch.as_tensor(obs, dtype=torch.float32)` right behind the environment.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.as_tensor`.
    """

    code: ClassVar[str] = "PRE403"
    name: ClassVar[str] = "observation-not-a-tensor"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        fed = evidence.says(
            r"argument 'input' .*must be Tensor, not",
            "expected np.ndarray",
            "Could not infer dtype of",
            "can't convert np.ndarray of type numpy.object_",
            r"expected Tensor as element \d+ in argument \d+, but got numpy",
            r"received an invalid combination of arguments - got \((dict|tuple|numpy)",
        )
        return fed and not reset_kept_whole(evidence)

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        none = evidence.says("dtype of NoneType", "got NoneType")
        yield self.finding(
            "None was to become a tensor" if none else "the network was fed something that is not a tensor",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="a tensor",
            help="store zeros in place of None for the state after the last, and multiply its value by 1 - done"
            if none
            else "convert with torch.as_tensor(obs, dtype=torch.float32) right behind the environment",
            confidence=0.85,
        )
