"""The policy's outputs are cut off at zero."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.roles import roles_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class PolicyOutputCutOff(Rule):
    """The policy's outputs are cut off at zero.

    ## What it checks
    Outputs of a network that a policy loss trains, one for each of the discrete actions: none is negative, and a fifth
    and more are exactly zero, in every stretch that was looked at. That is a ReLU behind the last layer.

    ## Why it matters
    An action whose output is cut off gets no gradient: it cannot be made less likely than another that is cut off too,
    and one that is never wins again.

    ## Likely causes
    1. An activation function after the last layer. Confirm: print the network.

    ## What to try first
    End the network with its last linear layer.

    ## When it is fine
    Nothing that is known of.

    ## References
    Goodfellow et al., *Deep Learning*, chapter 6.2.
    """

    code: ClassVar[str] = "NET352"
    name: ClassVar[str] = "policy-output-cut-off"
    severity: ClassVar[Severity] = "error"
    status: ClassVar[Literal["stable", "nursery"]] = "nursery"  # never seen on a running program
    reads: ClassVar[str] = "Script"

    numbers: int = 256  # that must be there
    audits: int = 2  # in which it was seen
    zero: float = 0.2  # share of outputs, or of weights, that are exactly zero

    def check(self, evidence: Script) -> Iterator[Finding]:
        roles = roles_of(evidence)
        stream = roles.stream
        facts = (evidence.streams[stream].get("facts") or {}) if stream is not None else {}
        count = int(facts.get("action_n") or 0)
        if count < 2:
            raise NotEnough("how many discrete actions there are is not known")
        looks: dict[str, list[np.ndarray]] = {}
        lines: dict[str, Where] = {}
        for audit in evidence.audits:
            seen: dict[str, list[np.ndarray]] = {}
            for event in audit.calls:
                output, name = event.arrays.get("output0"), str(event["module"])
                inside = {name, str(evidence.modules.get(name, {}).get("inside"))}
                if output is None or output.ndim != 2 or output.shape[1] != count or not inside & roles.policy:
                    continue
                if output.dtype.kind == "f" and np.isfinite(output).all():
                    seen.setdefault(name, []).append(output)
                    lines.setdefault(name, event.where)
            for name, each in seen.items():
                looks.setdefault(name, []).append(np.concatenate(each))
        judged = {
            name: each
            for name, each in looks.items()
            if len(each) >= self.audits and sum(one.size for one in each) >= self.numbers
        }
        if not judged:
            raise NotEnough("no policy with an output for each action was looked at twice")
        for name, each in judged.items():
            whole = np.concatenate(each)
            # Probabilities that are exactly zero: actions that are not allowed.
            if np.allclose(whole.sum(axis=1), 1.0, atol=1e-3):
                continue
            if all(one.min() == 0.0 and (one == 0.0).mean() >= self.zero and one.max() > 0 for one in each):
                yield self.finding(
                    f"the outputs of {name} are cut off at zero",
                    where=lines[name],
                    seen=f"none of {whole.size} is negative, and {(whole == 0).mean():.0%} are exactly 0",
                    expected="outputs without a bound",
                    help="leave out the activation after the last layer",
                    confidence=0.93,
                )
                return
