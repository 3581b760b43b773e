"""A flat vector has the length of other parameters than it is for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import operands_told, parameters_meet
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class FlatParametersDiffer(Rule):
    """A flat vector has the length of other parameters than it is for.

    ## What it checks
    Shapes did not fit, and a length is the number of parameters of a module in reach, or of two together.

    ## Why it matters
    TRPO, natural gradients and evolution strategies step along a flat vector. It has to be made of the same parameters,
    in the same order, as it is written to.

    ## Likely causes
    1. One of the vectors was made of the policy, the other of policy and value. Confirm: compare the lengths in `seen`
       with the number of parameters of each module.
    2. A vector was stored for a network of other widths. Confirm: the same.
    3. Only some parameters have a gradient, and those without were left out. Confirm: count the gradients that are
       None.

    ## What to try first
    Make both vectors from one list: `params = list(policy.parameters())`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.nn.utils.parameters_to_vector`; Schulman et al. 2015, *Trust Region Policy Optimization*.
    """

    code: ClassVar[str] = "OPT430"
    name: ClassVar[str] = "flat-parameters-differ"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return parameters_meet(evidence)

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        counts = {f"{name} has {fact['parameters']} parameters" for _, name, fact in evidence.held("network")}
        explained = any("parameters of" in what for what in evidence.sizes.values())
        known = f"; {', '.join(sorted(counts)[:4])}" if counts and not explained else ""
        yield self.finding(
            "a flat vector has the length of other parameters than it is for",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}{known}",
            expected="vectors of one and the same list of parameters",
            help="make both from one list, params = list(policy.parameters()), and leave the value network out of it",
            confidence=0.85,
        )
