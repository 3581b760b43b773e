"""The target network is the online network under another name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import reaching
from rldebug.syntax.copies import between, copies
from rldebug.syntax.flow import same
from rldebug.syntax.names import dotted, library, method, receiver

_GIVE_BACK_THEMSELVES = ("to", "cuda", "cpu", "float", "double", "eval", "train", "requires_grad_", "share_memory")


@dataclass(frozen=True, kw_only=True)
class TargetIsAnotherName(Rule):
    """The target network is the online network under another name.

    ## What it checks
    Weights are copied from one name to another that stands for the same object: `target = net`, `self.target =
    model.to(device)` beside `self.net = model.to(device)`, `copy.copy(net)`. Read from the source.

    ## Why it matters
    `=` copies nothing, and `.to()` of a module gives back the module itself. Every step of the optimizer moves both, so
    that the learner chases its own answer; Q-values run away, without an exception.

    ## Likely causes
    1. A second name was meant to be a second network. Confirm: `target is net` is True.

    ## What to try first
    `target = copy.deepcopy(net)`.

    ## When it is fine
    Where both names are meant to be one network; then the line that copies can go.

    ## References
    TGT-01 of bench/bugs (easy-rl issue 140). Mnih et al., *Human-level control through deep reinforcement learning*.
    """

    code: ClassVar[str] = "TGT621"
    name: ClassVar[str] = "target-is-another-name"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("TGT002", "TGT003", "TGT304")

    def check(self, evidence: Source) -> Iterator[Finding]:
        told: set[int] = set()
        for copy in copies(evidence):
            for into, origin in between(evidence, copy):
                one, where = _object(evidence, into, None)
                other, elsewhere = _object(evidence, origin, None)
                if one is None or one is not other or same(into, origin):
                    continue
                line = max((each for each in (where, elsewhere) if each is not None), key=_line, default=copy.node)
                if _line(line) in told:
                    continue
                told.add(_line(line))
                yield self.finding(
                    f"{evidence.quoted(into)} and {evidence.quoted(origin)} are one and the same network",
                    where=evidence.at(line),
                    seen=f"{evidence.quoted(line)}; then line {_line(copy.node)} copies it onto itself",
                    expected=f"{evidence.quoted(into)} is a network of its own",
                    help=f"{evidence.quoted(into)} = copy.deepcopy({evidence.quoted(origin)})",
                    confidence=0.95,
                )


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)


def _object(source: Source, network: ast.expr, bound: ast.AST | None) -> tuple[ast.AST | None, ast.AST | None]:
    """The call that made the object a name stands for, or the parameter that it came in by; and the last binding."""
    for _ in range(8):
        if isinstance(network, ast.Name | ast.Attribute) and dotted(network):
            bindings = reaching(source, network)
            if len(bindings) != 1:
                return None, None
            binding = bindings[0]
            if isinstance(binding.node, ast.arg):
                return binding.node, bound
            if binding.whole is None:
                return None, None
            network, bound = binding.whole, bound or binding.node
        elif method(network) in _GIVE_BACK_THEMSELVES and (inner := receiver(network)) is not None:
            network = inner
        elif library(source, network) == "copy.copy" and isinstance(network, ast.Call) and network.args:
            network = network.args[0]
        else:
            return (network, bound) if isinstance(network, ast.Call) else (None, None)
    return None, None
