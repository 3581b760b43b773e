"""Probabilities are given where scores are expected."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.heads import last_operations
from rldebug.syntax.names import argument, library
from rldebug.syntax.places import calls


@dataclass(frozen=True, kw_only=True)
class ProbabilitiesGivenAsLogits(Rule):
    """Probabilities are given where scores are expected.

    ## What it checks
    `Categorical(logits=x)` and `cross_entropy(x, …)`, where the last operation that made `x` is a softmax or a sigmoid.
    Read from the source.

    ## Why it matters
    A second softmax of numbers between 0 and 1 is close to uniform whatever the network says: no action of n can become
    likelier than e to one, and exploration never ends.

    ## Likely causes
    1. The network ends in a softmax, and `logits=` was written. Confirm: read both lines.

    ## What to try first
    Leave the softmax out, or write `probs=`.

    ## When it is fine
    Nothing that is known of.

    ## References
    PyTorch, *torch.distributions.Categorical*.
    """

    code: ClassVar[str] = "ACT601"
    name: ClassVar[str] = "probabilities-given-as-logits"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"

    def check(self, evidence: Source) -> Iterator[Finding]:
        for call in calls(evidence):
            name = library(evidence, call)
            if name.startswith("torch.distributions."):
                given = next((each.value for each in call.keywords if each.arg == "logits"), None)
            elif name in ("torch.nn.functional.cross_entropy", "torch.nn.functional.log_softmax", "torch.log_softmax"):
                given = argument(call, 0, "input")
            else:
                continue
            made = last_operations(evidence, given) if given is not None else set()
            if given is not None and made and made <= {"softmax", "sigmoid"}:
                yield self.finding(
                    f"{evidence.quoted(given)} are probabilities already, and are taken for logits",
                    where=evidence.at(call),
                    seen=f"{evidence.quoted(call)}, of what {' or '.join(sorted(made))} gives",
                    expected="what the last linear layer gives",
                    help="leave the softmax out of the network, or give the distribution probs=",
                    confidence=0.94,
                )
