"""The statements that compute what a loss is made of: returns, ends, next values, advantages, and the loss itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from rldebug.finding import Finding
from rldebug.forensics.aimed_acting import draws_in, first_computed, rows
from rldebug.forensics.program_text import SPAN, Text, begin, last, statements
from rldebug.syntax.across import Value
from rldebug.syntax.kinds import kind
from rldebug.syntax.places import calls, function_of
from rldebug.syntax.quantities import (
    Walk,
    advantages,
    is_network,
    operands,
    recursions,
    returns,
    stepped,
    surest,
    walk,
)


def formula(text: Text, finding: Finding) -> Sequence[ast.AST]:
    walked, found = returned(text, finding)
    scopes = {walked.scope(each) for each in found}
    more = [each for each in recursions(walked) if walked.scope(each) in scopes]
    return statements(walked, [*found, *more])


def discount(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """The same; of a library's agent, what it is given for gamma."""
    made = [call for source in text.sources for call in calls(source) if kind(source, call) == "agent"]
    given = [each.value for call in made for each in call.keywords if each.arg == "gamma"]
    return formula(text, finding) or given


def returned(text: Text, finding: Finding) -> tuple[Walk, list[ast.expr]]:
    """Where rewards become returns: the nearest before the statement that a finding points at; where that says nothing,
    anywhere, if it is one function only."""
    walked = text.near(finding)
    found = surest(returns(walked))
    if found and walked is not text.learned:
        nearest = walked.scope(next(each.node for each in walked.made_of if each.node in found))
        return walked, [each for each in found if walked.scope(each) is nearest]
    found = surest(returns(text.learned))
    return text.learned, found if len({text.learned.scope(each) for each in found}) == 1 else []


def sums(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """Where rewards of several steps are summed before they are learned from: in the function that plays, or in one
    that does little else."""
    walked = text.learned
    _, found = returned(text, finding)
    summed = [each for each, kind in returns(walked).items() if kind in (2, 3) and each not in found]
    playing = {walked.scope(each) for each in stepped(walked)}
    scopes = {walked.scope(each) for each in summed}
    if len(scopes) == 1 and not scopes & playing and not scopes & {walked.scope(each) for each in found}:
        return list(scopes)
    return statements(walked, [each for each in summed if walked.scope(each) in playing]) or formula(text, finding)


def ends(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """What cuts the future off: the mask where it is computed; the formula, where it stands in that or has none."""
    walked, found = returned(text, finding)
    without = [each for each in found if "end" not in walked.of(each)]
    if without:
        return statements(walked, without)
    whole = with_recursions(walked, found)
    masks = [one for each in whole for one in operands(walked, each, "end") if is_mask(walked, one)]
    return list(dict.fromkeys(masks)) or statements(walked, whole)


def with_recursions(walked: Walk, found: Sequence[ast.expr]) -> list[ast.expr]:
    """Returns, and the sums in the same functions in which each has a share of the one before it."""
    scopes = {walked.scope(each) for each in found}
    return [*found, *(each for each in recursions(walked) if walked.scope(each) in scopes)]


def is_mask(walked: Walk, statement: ast.stmt) -> bool:
    """Whether a statement computes something of ends, and of nothing else that is learned from."""
    kinds = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.IfExp)
    told = [walked.of(part) for part in ast.walk(statement) if isinstance(part, kinds)]
    return any("end" in each for each in told) and not any("reward" in each for each in told)


def following(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """What is expected of the next state and added to the reward: in the function of the formula, or in that which asks
    the networks for it."""
    walked, found = returned(text, finding)
    own = statements(walked, found)
    parts = [one for each in found for one in operands(walked, each, "network")]
    near = [each for each in parts if abs(begin(each) - begin(own[0])) < SPAN // 2]
    asked = _asked(text, found)
    scopes = {walked.scope(each) for each in asked}
    if len(scopes) == 1 and found and walked.scope(found[0]) not in scopes:
        return statements(walked, asked)
    return [*own, *near]


def _asked(text: Text, nodes: Sequence[ast.expr]) -> list[ast.expr]:
    """The networks whose answers expressions are computed from."""
    walked = walk(text.program, nodes, networks=False)
    return list(dict.fromkeys(each.node for each in walked.made_of if is_network(text.program, each.node)))


def asked_again(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """Where one observation takes the place of the next: in the loss, where networks are asked about the same; else
    where it is stored."""
    _, found = returned(text, finding)
    ahead = _asked(text, found)
    others = [each for each in _asked(text, [loss for _, loss in text.losses]) if each not in ahead]
    alike = {_about(text.learned, each) for each in ahead} & {_about(text.learned, each) for each in others}
    return following(text, finding) if alike - {None} else rows(text, finding)


def _about(walked: Walk, network: ast.expr) -> Value | None:
    """What a network is asked about, as far back as it is only one thing."""
    if not isinstance(network, ast.Call) or not network.args:
        return None
    value = Value(network.args[0])
    for _ in range(4 * SPAN):
        parts = walked.made_of.get(value, [])
        if len(parts) != 1:
            break
        value = parts[0]
    return value


def weight(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """The nearest statements that compute with returns, before the one that a finding points at."""
    statement = text.statement(finding.where)
    walked = text.near(finding)
    sums = [each.node for each in walked.made_of if isinstance(each.node, ast.BinOp)]
    before = [each for each in sums if "reward" in walked.of(each) and walked.statement(each) is not statement]
    near = [each for each in before if walked.scope(each) is walked.scope(before[0])]
    return statements(walked, near) or formula(text, finding)


def advantage(text: Text, finding: Finding) -> Sequence[ast.AST]:
    walked = text.near(finding)
    found = advantages(walked) or advantages(text.learned) or list(_differences(walked))[:1]
    return statements(walked, found) or formula(text, finding)


def _differences(walked: Walk) -> Iterator[ast.expr]:
    """Of what a network says and something else, before the statement that the walk begins at."""
    first = next(iter(walked.made_of), None)
    for each in walked.made_of:
        node = each.node
        if is_difference(node) and isinstance(node, ast.BinOp) and first is not None:
            told = ["network" in walked.of(side) for side in (node.left, node.right)]
            if any(told) and not all(told) and walked.statement(node) is not walked.statement(first.node):
                yield node


def weighed(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """What is made of scores before log-probs are weighed by it: the nearest difference to each."""
    found: list[ast.expr] = []
    for side in _beside_network(text.learned):
        walked = walk(text.program, [side])
        found += [each.node for each in walked.made_of if is_difference(each.node)][:1]
    return statements(text.learned, found)


def _beside_network(walked: Walk) -> Iterator[ast.expr]:
    """What answers of networks are multiplied by, that is no such answer itself."""
    for each in walked.made_of:
        node = each.node
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            sides = [side for side in (node.left, node.right) if "network" not in walked.of(side)]
            yield from sides if len(sides) == 1 else ()


def is_difference(node: ast.expr) -> bool:
    """Of two things that are not known beforehand: 1 - x is a mask."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Sub):
        return False
    return not any(isinstance(each, ast.Constant) for each in (node.left, node.right))


def noise(text: Text, finding: Finding) -> Sequence[ast.AST]:
    _, found = returned(text, finding)
    walked = walk(text.program, found)
    return statements(walked, list(draws_in(walked))[:1])  # the nearest


def scored(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """From the network that is asked to what is made of its answer."""
    statement = text.statement(finding.where)
    if statement is None or hasattr(statement, "body"):
        return []
    walked = text.near(finding)
    roots = [each for each in ast.iter_child_nodes(statement) if isinstance(each, ast.expr)]
    parts = [one for each in roots for one in operands(walked, each, "network") if not _is_of_returns(walked, one)]
    return [statement, *(each for each in parts if abs(begin(each) - begin(statement)) < SPAN)]


def _is_of_returns(walked: Walk, statement: ast.stmt) -> bool:
    return any("reward" in walked.of(each) for each in ast.walk(statement) if isinstance(each, ast.expr))


def loss(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """The statement that makes what is minimised: by the call of backward() that a finding points at, or the last
    before it; else by the only one, or the only one that a policy is trained by."""
    found = text.losses
    at, here = text.statement(finding.where), text.source(finding.where.file)
    if at is not None and here is not None:
        if not any(last(each) in ("backward", "step", "grad") for each in ast.walk(at)):
            return []  # a term of the loss
        around = function_of(here, at)
        mine = [each for each in found if text.program.home[each[0]] is here and function_of(here, each[0]) is around]
        before = [each for each in mine if 0 <= at.lineno - each[0].lineno < SPAN]
        found = before[-1:] or found
    if len(found) > 1:
        found = [each for each in found if _trains_policy(text, each[0])]
    if len(found) != 1:
        return []
    walked = walk(text.program, [found[0][1]])
    return statements(walked, [first_computed(walked, found[0][1])])


def _trains_policy(text: Text, call: ast.Call) -> bool:
    source = text.program.home[call]
    for audit in text.script.audits:
        for event, terms in audit.losses:
            at = event.where
            pushed = any(each["kind"] in ("policy", "output") for each in terms)
            if pushed and at.line == call.lineno and text.source(at.file) is source:
                return True
    return False
