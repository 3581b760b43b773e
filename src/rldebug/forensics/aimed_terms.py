"""The statements that put the terms of a loss together: their signs, their weights, and what they compare."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterator, Sequence

from rldebug.finding import Finding
from rldebug.forensics import aimed_acting, aimed_learning
from rldebug.forensics.program_text import Text, last, statements
from rldebug.syntax.across import Program, Value, back, run_by
from rldebug.syntax.names import method, receiver
from rldebug.syntax.quantities import Walk, is_network, is_put, walk

_SMALLER = frozenset({"min", "max", "minimum", "maximum", "fmin", "fmax", "where", "amin", "amax"})
_CLIPS = frozenset({"clip", "clamp", "clip_", "clamp_"})
_DRAWN = frozenset({"multinomial", "sample", "rsample", "argmax", "argmin", "generate"})
_MOST = 600
_NEAR = 24  # parts of a value that are nearest to it


def joined(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """Where a term is given its sign and weight: from the statement that a finding points at to the sum that takes it
    up. The loss, where it points at none."""
    at = text.statement(finding.where)
    if at is None or any(last(each) in ("backward", "step", "grad") for each in ast.walk(at)):
        return aimed_learning.loss(text, finding)
    walked = text.learned
    above = _above(walked, [each for each in walked.made_of if walked.statement(each.node) is at])
    found: dict[ast.stmt, None] = {}
    taken: dict[ast.stmt, None] = {}
    for each in above:
        node = each.node
        own = walked.statement(node)
        if own is at:
            continue
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            found[own] = None
        elif isinstance(node, ast.BinOp):
            others = [side for side in (node.left, node.right) if Value(side) not in above]
            if others and isinstance(node.op, ast.Add | ast.Sub):
                taken[own] = None
            elif others and isinstance(node.op, ast.Mult | ast.Div):
                found[own] = None
    return list(found) or list(taken)


def pushed(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """Where log-probs are first multiplied with what they are worth, after the statement that a finding points at."""
    at = text.statement(finding.where)
    if at is None or any(last(each) in ("backward", "step", "grad") for each in ast.walk(at)):
        return aimed_learning.loss(text, finding)
    walked = text.learned
    above = _above(walked, [each for each in walked.made_of if walked.statement(each.node) is at])
    for node in (each.node for each in above):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and walked.statement(node) is not at:
            sides = [side for side in (node.left, node.right) if Value(side) not in above]
            if sides and _is_worth(text, walked, sides[0]):
                return [walked.statement(node)]
    return joined(text, finding)


def _is_worth(text: Text, walked: Walk, node: ast.expr) -> bool:
    """Whether it is made of rewards, or was just summed up or compared; a mask is not."""
    if "reward" in walked.of(node):
        return True
    near = list(walk(text.program, [node]).made_of)[:_NEAR]
    sums = (
        each.node for each in near if isinstance(each.node, ast.BinOp) and isinstance(each.node.op, ast.Add | ast.Sub)
    )
    return any(not isinstance(each.left, ast.Constant) and not isinstance(each.right, ast.Constant) for each in sums)


def _above(walked: Walk, parts: Sequence[Value]) -> dict[Value, None]:
    """What is computed from values, up to the losses, near ones first; not what a network makes of them."""
    seen = dict.fromkeys(parts)
    ahead = deque(parts)
    while ahead:
        for user in walked.used_in.get(ahead.popleft(), ()):
            if user not in seen and not is_network(walked.program, user.node):
                seen[user] = None
                ahead.append(user)
    return seen


def branch(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """Where the smaller of the clipped and the unclipped side of a ratio is taken; else the loss."""
    walked = text.learned
    taken = [each.node for each in walked.made_of if last(each.node) in _SMALLER]
    found = statements(walked, [each for each in taken if isinstance(each, ast.Call) and _of_ratio(text, each)])
    return found if len(found) == 1 else aimed_learning.loss(text, finding)


def _of_ratio(text: Text, call: ast.Call) -> bool:
    """Whether a ratio of probabilities and its clipped twin are compared."""
    given = [*call.args, *(each.value for each in call.keywords)]
    made = [{last(each.node) for each in walk(text.program, [one], networks=False).made_of} for one in given]
    return len(given) > 1 and any(each & _CLIPS for each in made) and all("exp" in each for each in made[-2:])


def compared(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """Where both sides of a regression are made that stands at the place of a finding."""
    return _sides(text, finding, rewards=True)


def predicted(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """Where the predictions of a regression are made of what a network says."""
    return _sides(text, finding, rewards=False)


def _sides(text: Text, finding: Finding, *, rewards: bool) -> Sequence[ast.AST]:
    at = text.statement(finding.where)
    if at is None or hasattr(at, "body"):
        return []
    walked = text.near(finding)
    found: dict[ast.stmt, None] = {}
    for node in (each for each in ast.walk(at) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)):
        told = walked.of(node)
        wanted = "network" in told or (rewards and "reward" in told)
        if wanted and (rewards or "reward" not in told):
            made = [each.node for each in walked.made_of.get(Value(node), ())]
            own = [walked.statement(each) for each in made if walked.scope(each) is walked.scope(at)]
            whole = [each for each in own if isinstance(each, ast.Assign | ast.AnnAssign)]
            found.update(dict.fromkeys(whole if len(set(own)) == 1 else whole[-1:]))
    return list(found)


def weighed(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """What is made of scores before log-probs are weighed by it: the nearest difference to each."""
    found = aimed_learning.weighed(text, finding)
    if found:
        return found
    walked = text.learned
    nodes: list[ast.expr] = []
    for side in _constants(text, walked):
        told = walk(text.program, [side]).made_of
        nodes += [each.node for each in told if aimed_learning.is_difference(each.node)][:1]
    return statements(walked, nodes)


def _is_differentiable(program: Program, value: ast.expr) -> bool:
    """Whether gradients may flow from a value to a network: not through draws and comparisons."""
    seen: set[Value] = set()
    ahead = [Value(value)]
    while ahead and len(seen) < _MOST:
        each = ahead.pop()
        node = each.node
        if each in seen or isinstance(node, ast.Compare):
            continue
        if isinstance(node, ast.Call) and last(node) in _DRAWN and not run_by(program, node):
            continue
        seen.add(each)
        if is_network(program, node):
            return True
        ahead.extend(back(program, each))
    return len(seen) >= _MOST


def reused(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """Where a ratio of probabilities is made: the exponential of a difference that a policy loss takes."""
    walked = text.learned
    made = [each.node for each in walked.made_of if last(each.node) == "exp" and isinstance(each.node, ast.Call)]
    given = [(each, each.args[0] if each.args else receiver(each)) for each in made]
    found = statements(walked, [each for each, inner in given if isinstance(inner, ast.BinOp | ast.Name)])
    return found if len(found) == 1 else []


def density(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """Where the log-prob of what is drawn is taken, in the function that draws; else that function."""
    walked = text.learned
    draws = {walked.scope(each) for each in aimed_acting.draws_in(walked)}
    taken = [each.node for each in walked.made_of if method(each.node) == "log_prob"]
    found = statements(walked, [each for each in taken if walked.scope(each) in draws])
    return found if len({walked.scope(each) for each in found}) == 1 else aimed_acting.drawn(text, finding)


def marked(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """Where it is kept which draws count, beside the draws: what log-probs are multiplied with."""
    walked = text.learned
    draws = {walked.scope(each.node) for each in walked.made_of if last(each.node) == "multinomial"}
    draws |= {walked.scope(each) for each in aimed_acting.draws_in(walked)}
    found: dict[ast.stmt, None] = {}
    for side in _constants(text, walked):
        for each in walk(text.program, [side]).made_of:
            if walked.scope(each.node) in draws and is_put(walked, each.node):
                found[walked.statement(each.node)] = None
    return list(found) if len(found) == 1 else aimed_learning.scored(text, finding)


def _constants(text: Text, walked: Walk) -> Iterator[ast.expr]:
    """What is multiplied with something that gradients flow through, and lets none through itself."""
    for each in walked.made_of:
        node = each.node
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            sides = [side for side in (node.left, node.right) if not _is_differentiable(text.program, side)]
            yield from sides if len(sides) == 1 else ()
