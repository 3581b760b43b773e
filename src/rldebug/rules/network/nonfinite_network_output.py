"""A network puts out NaN or infinity for finite inputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from rldebug.evidence.finite import nonfinite_at, recorded
from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class NonfiniteNetworkOutput(Rule):
    """A network puts out NaN or infinity for finite inputs.

    ## What it checks
    It walks the readings of a run in order; in the first one with a number that is not finite, the stage furthest
    upstream is blamed, and only that one. Here that stage is what a network put out: a value, a log-prob, an entropy,
    or an action handed to the environment. Observations and rewards were finite. A run that ended in torch's
    complaint about NaN in the parameters of a distribution counts too.

    ## Why it matters
    Sampling from a NaN distribution raises or acts at random, and the next update makes all weights NaN.

    ## Likely causes
    1. The weights had become NaN in an update that was not recorded. Confirm: `weight/norm` is not finite in the same
       reading; record every update (`every=1`) around it, or set the traps `nonfinite-loss` and `nonfinite-
       gradient`.
    2. A function of the output leaves its domain: the logarithm of `1 − tanh²` at saturation, `log(p)` at p = 0, a
       standard deviation that is not kept positive, `exp` of an unbounded log-std. Confirm: the weights are finite;
       `policy/entropy` or the log-prob is not.
    3. A distribution masked with −inf in which no action is left. Confirm: a row of the mask is all False.
    4. Weights so large that the forward pass overflows. Confirm: `weight/norm` or `layers` absmax grew by orders of
       magnitude before.

    ## What to try first
    Set `traps={"nonfinite-network-output": "pdb"}` and look at the network's inputs and weights where it stops.

    ## When it is fine
    Rows that are padded with NaN on purpose and masked out later: if everything computed from them stays finite, this
    is a note, not an error. An entropy of −inf that is only logged is a note as well.

    ## References
    Haarnoja et al., *Soft Actor-Critic* (appendix C: the change of variables for tanh). PyTorch,
    `torch.distributions.Distribution.set_default_validate_args`.
    """

    code: ClassVar[str] = "NET001"
    name: ClassVar[str] = "nonfinite-network-output"
    severity: ClassVar[Severity] = "error"
    follows: ClassVar[tuple[str, ...]] = ("ENV001", "ENV002", "OPT004", "GRA004", "NET006")
    trap: ClassVar[bool] = True
    aftermath: ClassVar[bool] = True

    def check(self, evidence: Run) -> Iterator[Finding]:
        first = nonfinite_at(evidence, "network output")
        if first is None:
            if not recorded(evidence, "network output"):
                raise NotEnough("no values or log-probs were handed over")
            return
        place = replace(
            evidence.call("rollout" if first.series.startswith(("rollout/", "env/")) else "update"),
            update=first.reading.update,
            env_step=first.reading.env_step,
            tensor=None if first.error else first.series,
        )
        yield self.finding(
            "a network's output is not finite"
            if first.error is None
            else "the run ended on a network output that is not finite",
            where=place,
            seen=first.seen,
            expected="finite outputs while observations and rewards are finite",
            help="one in between did it: rldebug.watch(every=1, traps={'nonfinite-gradient': 'raise'}) stops at it"
            if not first.sure
            else "keep logs, roots and standard deviations in their domain: add an epsilon or use a stable form",
            confidence=first.confidence,
            severity="note" if first.spread is False else "error",
        )
