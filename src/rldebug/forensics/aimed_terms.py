"""The statements that put a loss together, cut its returns off and bring its parts into one order."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterator, Sequence

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Where
from rldebug.forensics import aimed_acting, aimed_around, aimed_learning
from rldebug.forensics.followers import followers
from rldebug.forensics.program_text import Text, last, statements
from rldebug.syntax.across import Program, Value, back, run_by
from rldebug.syntax.bindings import reaching
from rldebug.syntax.flow import within
from rldebug.syntax.kinds import kind
from rldebug.syntax.mentions import in_setup
from rldebug.syntax.names import dotted, method, receiver
from rldebug.syntax.places import Function, calls, function_of, loops_of, parents
from rldebug.syntax.quantities import Walk, is_network, is_put, operands, recursions, stepped, walk

_SMALLER = frozenset({"min", "max", "minimum", "maximum", "fmin", "fmax", "where", "amin", "amax"})
_CLIPS = frozenset({"clip", "clamp", "clip_", "clamp_"})
_ORDERS = frozenset(
    {"reshape", "view", "flatten", "ravel", "transpose", "permute", "swapaxes", "moveaxis", "t", "stack", "rearrange"}
)
_DRAWN = frozenset({"multinomial", "sample", "rsample", "argmax", "argmin", "generate"})
_TERMINATED, _TRUNCATED = 2, 3  # places in what step() returns
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


def cut(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """Where a sum that is carried from step to step is cut off at ends: the formula where it is not; what was stored of
    ends where it is."""
    walked, found = aimed_learning.returned(text, finding)
    scopes = {walked.scope(each) for each in found}
    sums = [each for each in recursions(walked) if walked.scope(each) in scopes]
    masks = [_masks(walked, side) for each, side in _carried(walked).items() if each in sums]
    if not all(masks):
        return statements(walked, sums)
    return flags(text, [one for each in masks for one in each]) or aimed_learning.formula(text, finding)


def _carried(walked: Walk) -> dict[ast.expr, ast.expr]:
    """Of sums that are carried on, the share of the one before."""
    found: dict[ast.expr, ast.expr] = {}
    for node in recursions(walked):
        if isinstance(node, ast.BinOp):
            for side in (node.left, node.right):
                if walked.leads_to(Value(side), Value(node)):
                    found[node] = side
    return found


def flags(text: Text, nodes: Sequence[ast.expr]) -> Sequence[ast.AST]:
    """Where the ends are stored that expressions read, if that is one statement beside a step of the environment."""
    walked = text.learned
    played = {walked.scope(each) for each in stepped(walked)}
    found: dict[ast.stmt, None] = {}
    seen: set[Value] = set()
    ahead = [Value(part) for each in nodes for part in ast.walk(each) if isinstance(part, ast.expr)]
    while ahead:
        each = ahead.pop()
        if each in seen or "end" not in walked.labels.get(each, ()) or "reward" in walked.labels.get(each, ()):
            continue
        seen.add(each)
        if walked.scope(each.node) in played and is_put(walked, each.node):
            found[walked.statement(each.node)] = None
        else:
            ahead.extend(walked.made_of.get(each, ()))
    return list(found) if len(found) == 1 else []


def ends(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """Where what lies beyond an end is left out: the formula that lacks it, the branch that asks for the wrong flag, or
    the flag that is stored."""
    walked, found = aimed_learning.returned(text, finding)
    whole = aimed_learning.with_recursions(walked, found)
    parts = {each: _masks(walked, each) for each in whole}
    without = [each for each, masks in parts.items() if not masks]
    if not without:
        return flags(text, [one for masks in parts.values() for one in masks]) or aimed_learning.ends(text, finding)
    return list(_guards(text, without)) or list(_gathered(text, walked, without)) or statements(walked, without)


def _masks(walked: Walk, node: ast.expr) -> list[ast.expr]:
    """What of a sum is computed of ends, and of no rewards; also in statements before it."""
    before = [each for each in operands(walked, node, "end") if aimed_learning.is_mask(walked, each)]
    parts = [part for each in [node, *before] for part in ast.walk(each) if isinstance(part, ast.expr)]
    return [each for each in parts if "end" in walked.of(each) and "reward" not in walked.of(each)]


def _guards(text: Text, sums: Sequence[ast.expr]) -> Iterator[ast.stmt]:
    """Branches in which a network is asked for what follows where an episode has ended for good."""
    walked = walk(text.program, sums, networks=False)
    for each in walked.made_of:
        if is_network(text.program, each.node):
            source = text.program.home[each.node]
            inner: ast.AST = each.node
            while (around := parents(source).get(inner)) is not None and not isinstance(around, Function):
                if isinstance(around, ast.If) and _is_asked_at_ends(text, around, inner):
                    yield around
                inner = around


def _gathered(text: Text, walked: Walk, sums: Sequence[ast.expr]) -> Iterator[ast.stmt]:
    """Calls, once for each episode, of a function that sums rewards, with a list that keeps those of other episodes."""
    scope = walked.scope(sums[0])
    for call in text.program.calls.get(scope.name, ()) if isinstance(scope, Function) else ():
        source = text.program.home[call]
        loops = loops_of(source, call)
        for name in (each for each in call.args if isinstance(each, ast.Name) and "reward" in walked.of(each)):
            bound = reaching(source, name)
            made = [each for each in bound if isinstance(each.whole, ast.List | ast.Call)]
            more = [each for each in bound if each.how == "augmented"]
            more += [each for each in made if isinstance(each.node, ast.AugAssign)]
            grown = more or _is_extended(source, loops[0] if loops else None, name.id)
            outside = made and loops and not any(within(loops[0], each.node) for each in made)
            if grown and outside:
                yield walked.statement(call)


def _is_extended(source: Source, loop: ast.AST | None, name: str) -> bool:
    inside = (each for each in ast.walk(loop) if isinstance(each, ast.Call)) if loop is not None else ()
    grown = (receiver(each) for each in inside if method(each) == "extend")
    return any(isinstance(each, ast.Name) and each.id == name for each in grown)


def _is_asked_at_ends(text: Text, branch: ast.If, inner: ast.AST) -> bool:
    """`if terminated:`, or `if not truncated:`, by what step() returned; nothing is said of longer tests."""
    test, holds = branch.test, inner in branch.body
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, holds = test.operand, not holds
    if inner is branch.test or not isinstance(test, ast.Name | ast.Attribute | ast.Subscript):
        return False
    told = walk(text.program, [test], networks=False).made_of
    places = {each.path[0][0] for each in told if each.node in text.program.steps and each.path}
    return places == {_TERMINATED if holds else _TRUNCATED}


def ordered(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """Where targets are brought into the order in which they are learned: the nearest function that does so."""
    walked = text.near(finding)
    moved = [each.node for each in walked.made_of if last(each.node) in _ORDERS and "reward" in walked.of(each.node)]
    found = [each for each in moved if isinstance(each, ast.Call) and not run_by(text.program, each)]
    return statements(walked, [each for each in found if walked.scope(each) is walked.scope(found[0])])


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


def _is_differentiable(program: Program, node: ast.expr) -> bool:
    """Whether gradients may flow from a value to a network: not through draws and comparisons."""
    seen: set[Value] = set()
    ahead = [Value(node)]
    while ahead and len(seen) < _MOST:
        each = ahead.pop()
        if each in seen or last(each.node) in _DRAWN or isinstance(each.node, ast.Compare):
            continue
        seen.add(each)
        if is_network(program, each.node):
            return True
        ahead.extend(back(program, each))
    return len(seen) >= _MOST


def followed(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """Where targets follow: the calls of the function that copies, where others do follow and one for this target is
    missing; else the copy."""
    nodes = aimed_around.copying(text, finding)
    around = [function_of(text.program.home[each], each) for each in nodes]
    others = not all(each.still for each in followers(text.script))
    if len(nodes) != 1 or around[0] is None or not others:
        return nodes
    asked = [(source, each) for source in text.sources for each in calls(source)]
    made = [each for source, each in asked if around[0] in run_by(text.program, each) and not in_setup(source, each)]
    return statements(text.learned, made) or nodes


def window(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """Where rewards of several steps are kept until they are summed: the branch at an end, or else the statement that
    keeps them."""
    walked = text.learned
    kept: dict[ast.stmt, None] = {}
    for each in walked.made_of:
        if "reward" in walked.labels.get(each, ()) and _is_appended(walked, each.node):
            kept[walked.statement(each.node)] = None
    last_kept = next(reversed(kept), None)  # of rewards as they came, before they are summed
    scope = walked.scope(last_kept) if last_kept is not None else None
    if not isinstance(scope, Function):
        return []
    asked = [each for each in ast.walk(scope) if isinstance(each, ast.If)]
    told = [each for each in asked if _asks_for_ends(text, each.test)]
    return told if len(told) == 1 else [each for each in kept if walked.scope(each) is scope]


def _is_appended(walked: Walk, node: ast.expr) -> bool:
    own = walked.statement(node)
    return isinstance(own, ast.Expr) and method(own.value) in ("append", "appendleft", "extend")


def _asks_for_ends(text: Text, test: ast.expr) -> bool:
    walked = walk(text.program, [test], networks=False)
    return "end" in walked.of(test)


def held(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """Where the parameters are chosen, and the optimizer is made, that steps next after a loss; or at a place."""
    at, here = text.statement(finding.where), text.source(finding.where.file)
    if at is None or here is None:
        return []
    around = function_of(here, at)
    steps = [
        each
        for each in calls(here)
        if method(each) == "step" and not each.args and function_of(here, each) is around and each.lineno >= at.lineno
    ]
    lines = {(finding.where.file, each.lineno) for each in sorted(steps, key=lambda each: each.lineno)[:1]}
    names = {each["optimizer"] for _, each in text.script.events("step") if tuple(each.get("line") or ()) in lines}
    made = [text.script.optimizers.get(name, {}).get("created") for name in names]
    if len(made) != 1 or not isinstance(made[0], list):
        return []
    statement = text.statement(Where(file=str(made[0][0]), line=int(made[0][1])))
    if statement is None:
        return []
    return [*_listed(text, statement), statement]


def _listed(text: Text, statement: ast.stmt) -> Iterator[ast.AST]:
    """What an optimizer is given under a name: where that is made."""
    value = getattr(statement, "value", None)
    if isinstance(value, ast.Call) and value.args and isinstance(value.args[0], ast.Name):
        made = back(text.program, Value(value.args[0]))
        if len(made) == 1:
            yield from statements(walk(text.program, [made[0].node]), [made[0].node])


def rates(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """Where the learning rate of groups is set."""
    found = []
    for source in text.sources:
        for node in ast.walk(source.tree):
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            if isinstance(node, ast.Assign | ast.AugAssign) and any(_is_rate(each) for each in targets):
                found.append(node)
    return found if len(found) == 1 else []


def _is_rate(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value == "lr"


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


def trace(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """Where each sum has a share of the one before it; else where rewards become returns."""
    walked, found = aimed_learning.returned(text, finding)
    scopes = {walked.scope(each) for each in found}
    sums = [each for each in recursions(walked) if walked.scope(each) in scopes]
    return statements(walked, sums) or aimed_learning.formula(text, finding)


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


def memory(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """Where the state of a network goes from step to step of a sequence that is learned from."""
    played = {text.learned.scope(each) for each in text.program.steps}
    found = []
    for source in text.sources:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and loops_of(source, node):
                names = {dotted(part) for target in node.targets for part in ast.walk(target)} - {""}
                given = {dotted(part) for each in node.value.args for part in ast.walk(each)}
                asked = is_network(text.program, node.value) or kind(source, node.value.func) == "module"
                if names & given and asked and text.learned.scope(node) not in played:
                    found.append(node)
    return found if len(found) == 1 else []
