"""Training goes on from a checkpoint that holds no state of the optimizer."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.flow import computed_from
from rldebug.syntax.kinds import kind
from rldebug.syntax.names import dotted, library, method, receiver
from rldebug.syntax.places import calls


@dataclass(frozen=True, kw_only=True)
class OptimizerNotInCheckpoint(Rule):
    """Training goes on from a checkpoint that holds no state of the optimizer.

    ## What it checks
    A file saves the weights of a network that it trains, loads them into the same network, and never touches the
    `state_dict()` of the optimizer. Read from the source.

    ## Why it matters
    The optimizer begins anew: Adam has no idea of the sizes of the gradients, and its first steps are as large as
    they get. The return often drops when training goes on.

    ## Likely causes
    1. Only the network was thought of. Confirm: look at the keys of the checkpoint.

    ## What to try first
    `torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict()}, file)`.

    ## When it is fine
    Where the weights are loaded to play, not to train.

    ## References
    CKP-03 of bench/bugs. PyTorch, *Saving and loading a general checkpoint*.
    """

    code: ClassVar[str] = "CKP603"
    name: ClassVar[str] = "optimizer-not-in-checkpoint"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "Source"

    def check(self, evidence: Source) -> Iterator[Finding]:
        of_optimizer = [call for call in calls(evidence) if kind(evidence, receiver(call)) == "optimizer"]
        if not any(method(call) == "step" for call in of_optimizer):
            return
        if any(method(call) in ("state_dict", "load_state_dict") for call in of_optimizer):
            return
        states = [receiver(call) for call in calls(evidence) if method(call) in ("state_dict", "load_state_dict")]
        if any(kind(evidence, each) != "module" for each in states):
            return  # [o.state_dict() for o in …] may be the optimizers
        loads = {dotted(receiver(call) or call) for call in calls(evidence) if _loads_file(evidence, call)}
        for call in calls(evidence):
            if library(evidence, call) != "torch.save" or not call.args:
                continue
            inside = [each for each in computed_from(evidence, call.args[0]) if method(each) == "state_dict"]
            nets = sorted({dotted(receiver(each) or each) for each in inside} & loads - {""})
            if nets:
                yield self.finding(
                    f"the checkpoint holds {', '.join(nets)} and no state of the optimizer",
                    where=evidence.at(call),
                    seen=evidence.quoted(call),
                    expected="the state_dict() of the optimizer beside that of the network",
                    help='"optimizer": optimizer.state_dict() in the checkpoint, and load it when training goes on',
                    confidence=0.7,
                )


def _loads_file(source: Source, call: ast.Call) -> bool:
    """`net.load_state_dict(…)` of something that torch.load() gave."""
    if method(call) != "load_state_dict" or not call.args:
        return False
    return any(library(source, each) == "torch.load" for each in computed_from(source, call.args[0]))
