"""A copy of the network gives the targets and is never brought up to date."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import attributes, bound_in
from rldebug.syntax.copies import copies
from rldebug.syntax.flow import computed_from
from rldebug.syntax.kinds import kind
from rldebug.syntax.mentions import in_setup, mentions, without_gradient
from rldebug.syntax.names import library, method, receiver
from rldebug.syntax.optimised import key, optimised
from rldebug.syntax.places import Function, class_of
from rldebug.syntax.stepping import steps
from rldebug.syntax.sums import factors, terms


@dataclass(frozen=True, kw_only=True)
class TargetNeverSynchronised(Rule):
    """A copy of the network gives the targets and is never brought up to date.

    ## What it checks
    A network that is in no optimizer starts as a copy of one that learns, its answers are added to rewards without
    gradients, and nothing in the file ever writes it again. Only in files that step an environment themselves. Read
    from the source.

    ## Why it matters
    Values are bootstrapped from the first random weights for good: the learner fits one step of reward plus noise.

    ## Likely causes
    1. The line that copies the weights is missing. Confirm: search for load_state_dict.
    2. It is in a function that nobody calls. Confirm: search for its name.

    ## What to try first
    `if step % 1000 == 0: target.load_state_dict(net.state_dict())`.

    ## When it is fine
    Where another file updates it.

    ## References
    TGT-03 of bench/bugs (JORLDY issue 120). Mnih et al., *Human-level control through deep reinforcement learning*.
    """

    code: ClassVar[str] = "TGT626"
    name: ClassVar[str] = "target-never-synchronised"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("TGT001", "TGT005", "TGT300")

    def check(self, evidence: Source) -> Iterator[Finding]:
        learning = {key(evidence, each) for _, networks in optimised(evidence) for each in networks}
        if not learning or not steps(evidence):
            return
        sums = [
            node for node in ast.walk(evidence.tree) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)
        ]
        for name, (node, origin) in _copied(evidence).items():
            if name in learning or not any(f"{each}.".startswith(f"{origin}.") for each in learning):
                continue
            uses = list(mentions(evidence, name))
            asked = [each for each, use in uses if use == "asked"]
            if any(use == "other" for _, use in uses) or not all(without_gradient(evidence, each) for each in asked):
                continue
            if any(not in_setup(evidence, c.node) for c in copies(evidence) if key(evidence, c.into) == name):
                continue
            learned = [each for every in learning for each, use in mentions(evidence, every) if use == "asked"]
            learned = [each for each in learned if not without_gradient(evidence, each)]
            if any(_bootstraps(evidence, each, asked, learned) for each in sums):
                slow, fast = name.rpartition(":")[2], origin.rpartition(":")[2]
                yield self.finding(
                    f"{slow} gives the targets and keeps its first weights: nothing copies {fast} into it later",
                    where=evidence.at(node),
                    seen=evidence.quoted(node),
                    expected=f"the weights of {fast} are copied into {slow} from time to time",
                    help=f"{slow}.load_state_dict({fast}.state_dict()) every some hundred updates",
                    confidence=0.85,
                )


def _copied(source: Source) -> dict[str, tuple[ast.AST, str]]:
    """Networks that begin as copies of others: name -> where, and of which."""
    found: dict[str, tuple[ast.AST, str]] = {}
    owners = [node for node in ast.walk(source.tree) if isinstance(node, ast.ClassDef)]
    scopes = [source.tree, *(node for node in ast.walk(source.tree) if isinstance(node, Function))]
    places = [each for scope in scopes for each in bound_in(source, scope).values()]
    places += [each for owner in owners for each in attributes(source, owner).values()]
    for bindings in places:
        value = bindings[0].whole
        while value is not None and method(value) in ("to", "eval", "requires_grad_", "cuda", "float"):
            value = receiver(value)
        if len(bindings) == 1 and library(source, value or bindings[0].node) == "copy.deepcopy":
            assert isinstance(value, ast.Call)
            target = bindings[0].node.targets[0] if isinstance(bindings[0].node, ast.Assign) else None
            if value.args and isinstance(target, ast.Name | ast.Attribute) and in_setup(source, target):
                found[key(source, target)] = (bindings[0].node, key(source, value.args[0]))
    for copy in copies(source):
        whole = copy.blend is None and class_of(source, copy.into) is class_of(source, copy.origin)
        if whole and in_setup(source, copy.node) and kind(source, copy.into) == "module":
            found.setdefault(key(source, copy.into), (copy.node, key(source, copy.origin)))
    return found


def _bootstraps(source: Source, node: ast.BinOp, asked: list[ast.expr], learned: list[ast.expr]) -> bool:
    """Whether it is reward + discount * answer; a log-prob of the answer is a reference, not a value. What is added to
    what a network is to learn from is a part of a loss, and no target."""
    parts = list(terms(node))
    for sign, part in parts:
        _, given = factors(part)
        if sign < 0 or len(given) < 2:
            continue
        inside = computed_from(source, part)
        answers = {each for each in inside if isinstance(each, ast.Call) and _of_it(each, asked)}
        logs = [each for each in inside if method(each) in ("log_prob", "log_softmax") or _is_log_softmax(source, each)]
        if any(answers & set(computed_from(source, each)) for each in logs):
            continue
        others = [node for _, other in parts if other is not part for node in computed_from(source, other)]
        if answers and not any(isinstance(each, ast.Call) and _of_it(each, learned) for each in others):
            return True
    return False


def _is_log_softmax(source: Source, node: ast.expr) -> bool:
    return library(source, node).endswith(".log_softmax")


def _of_it(call: ast.Call, asked: list[ast.expr]) -> bool:
    """The call of a network, or of a part of it."""
    return any(each in asked for each in ast.walk(call.func))
