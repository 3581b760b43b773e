"""*Trying to backward through the graph a second time*: the tensor that was made before the first, and the first.

The backward() that fails has freed all that it had gone through by then: which nodes were freed before it cannot be
seen. What can: that another loss, still in reach, was gone through; and which tensors of this one are not made anew.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from rldebug.evidence.crashes import creation_sites
from rldebug.evidence.crashes.facts import Fact
from rldebug.evidence.crashes.in_use import optimizers_after, optimizers_in_use, parameters_of_all
from rldebug.evidence.crashes.made import Made, Repeat, carried, handed_on, is_old, leads_into, never_emptied, repeat_of
from rldebug.evidence.crashes.named import Named
from rldebug.evidence.crashes.scene import Scene, Step, asked_of, in_same_pass, line_of, steps_before
from rldebug.evidence.crashes.source import Place, bindings, line_told, node_at
from rldebug.evidence.crashes.walk import Walk, leaves, walk
from rldebug.syntax.names import dotted
from rldebug.syntax.places import calls_in

_CLOSE = 200  # nodes below a tensor that the loss does not use itself
_LOSSES = 8  # other losses in reach that are looked at


def twice_facts(scene: Scene) -> Fact:
    told = walk(scene.roots)
    repeat = repeat_of(scene.stack)
    used = _used(scene, told, repeat)
    other = _gone_through(scene, told)
    facts: Fact = {"fault": "twice", "loss": scene.loss}
    if (same := _loss_itself(scene)) is not None:
        return {**facts, "pattern": "same loss", **same, "networks": scene.networks(leaves(told, told.order[-1:]))}
    stale, below = _stale(scene, told, used, repeat, other)
    stale = stale or _carried_loss(scene, repeat)
    first = _call_on(scene, other[0]) if other is not None else None
    if first is None and all(each[3] == "shared" for each in stale):
        first = _earlier(scene)
    if first is not None:
        facts["first"] = line_told(first.place, first.call)
    elif scene.asked is not None:
        facts["first"] = {**line_told(scene.asked[0], scene.asked[1]), "again": True}
    if not stale and first is not None and (one := _one_pass(scene, told, other)):
        return {**facts, **one}
    if not stale:
        return {**facts, **_by_sites(scene, told)}
    alias, made, nodes, kind = stale[0]
    facts["pattern"] = _pattern(made, kind, lambda: carried(made, scene.stack, repeat))
    if facts["pattern"] == "collected" and never_emptied(made, scene.stack, repeat):
        facts["pattern"] = "not emptied"
    facts["name"], facts["count"] = _called(alias, nodes), len(nodes)
    if facts["pattern"] == "recurrent state" and alias.path.endswith("]") and not alias.holder:
        facts |= {"name": alias.path.partition("[")[0], "parts": True}  # (h, c)
        stale = [each for each in stale if each is stale[0] or each[1] is not made]
    facts["shape"] = [int(each) for each in alias.value.shape]
    facts["made"] = line_of(made, nodes[0])
    if made.filled is not None and made.filled[1] is not made.node:
        facts["stored"] = line_told(*made.filled)
    facts["networks"] = scene.networks(leaves(told, [id(each) for each in nodes]))
    ends = [id(each) for _, _, all_nodes, _ in stale for each in all_nodes]
    anew = leaves(told, told.order[-1:], without=ends)
    facts["data"] = bool(scene.networks(anew))
    facts["others"] = [{"name": _called(each[0], each[2]), **line_of(each[1], each[2][0])} for each in stale[1:4]]
    if below and facts["pattern"] == "kept":
        facts["source"] = _called(below[0][0], below[0][2])
    if facts["pattern"] == "two losses" and first is not None:
        facts["detach"] = _detachable(scene, told, ends, first, other)
    return facts


def _detachable(scene: Scene, told: Walk, shared: list[int], first: Step, other: tuple[Any, Walk] | None) -> Fact:
    """The one of two losses that trains nothing through what they share; `neither`; empty where it cannot be told."""
    through = {id(each) for each in leaves(told, shared)}

    def free(parameters: list[Any], anew: list[Any]) -> bool:
        mine = {id(each) for each in parameters}
        return not mine & through and any(id(each) in mine for each in anew)

    here = parameters_of_all(optimizers_in_use(scene))
    end = first.call.end_lineno or first.call.lineno, first.call.end_col_offset or 0
    there = parameters_of_all(optimizers_after(first.place, end))
    if free(here, leaves(told, told.order[-1:], without=shared)):
        return {"loss": scene.loss["name"]}
    if other is not None and free(there, leaves(other[1], other[1].order[-1:], without=shared)):
        loss = asked_of(first.call)
        return {"loss": ast.unparse(loss)[:80] if loss is not None else ""}
    return {"neither": True} if here and there else {}


def _called(alias: Named, nodes: list[Any]) -> str:
    """`rollout['logp']`, or the list where there are several of its items."""
    return alias.path if len(nodes) == 1 else alias.kept


def _used(scene: Scene, told: Walk, repeat: Repeat | None) -> list[tuple[Named, Made, Any]]:
    """The named tensors that the loss was computed from, below which something was freed: name, maker, node."""
    freed: set[int] = set()
    for place in told.order:
        if place in told.freed or any(child in freed for child in told.children[place]):
            freed.add(place)
    found = []
    losses = {id(each) for each in scene.roots}
    for aliases in scene.aliases.values():
        node = aliases[0].value.grad_fn
        if node is None or id(aliases[0].value) in losses:
            continue
        beside = id(node) not in freed
        if beside and not _meets(node, freed):
            continue
        # Where it is kept tells more than the name that the last turn of a loop has left.
        known = scene.made(sorted(aliases, key=lambda each: not each.holder))
        # The state that an LSTM gives back is not what the loss uses, but shares its graph.
        if known is not None and (not beside or carried(known[1], scene.stack, repeat) == "call"):
            found.append((*known, node))
    return found


def _meets(node: Any, freed: set[int]) -> bool:
    """Whether a node has a freed one close below."""
    ahead, seen = [node], 0
    while ahead and seen < _CLOSE:
        each = ahead.pop()
        seen += 1
        if id(each) in freed:
            return True
        ahead.extend(child for child, _ in each.next_functions if child is not None)
    return False


Stale = tuple[Named, Made, list[Any], str]


def _stale(
    scene: Scene, told: Walk, used: list[tuple[Named, Made, Any]], repeat: Repeat | None, other: tuple[Any, Walk] | None
) -> tuple[list[Stale], list[Stale]]:
    """Those made before the first backward(), grouped by what they are kept in, the surest first; and what these were
    computed from, the first made first."""
    groups: dict[tuple[int, str], Stale] = {}
    ages: dict[int, str] = {}

    def age(made: Made) -> str:
        if handed_on(made, scene.stack, repeat):
            return "handed on"
        return (carried(made, scene.stack, repeat) or "kept") if is_old(made, scene.stack, repeat) else ""

    for alias, made, node in used:
        kind = ""
        if (before := creation_sites.made_before_last_backward(node)) is not None:
            kind = "kept" if before else ""
        elif other is not None:
            kind = "shared" if id(node) in other[1].nodes else ""
        else:
            if id(made) not in ages:
                ages[id(made)] = age(made)
            kind = ages[id(made)]
        if kind:
            key = (id(alias.frame), alias.holder or alias.path)
            groups.setdefault(key, (alias, made, [], kind))[2].append(node)
    if not groups and other is None and (earlier := _earlier(scene)) is not None:
        for alias, made, node in used:
            if _made_before(scene, made, earlier):
                groups.setdefault((id(alias.frame), alias.holder or alias.path), (alias, made, [], "shared"))[2].append(
                    node
                )
    found = [each for each in groups.values() if not _below_another(told, each, list(groups.values()))]
    below = [each for each in groups.values() if each not in found]
    order = {"call": 0, "sum": 1, "handed on": 2, "kept": 3, "shared": 3}
    found.sort(key=lambda each: (order[each[3]], -max(node._sequence_nr() for node in each[2])))
    return found, sorted(below, key=lambda each: int(min(node._sequence_nr() for node in each[2])))


def _one_pass(scene: Scene, told: Walk, other: tuple[Any, Walk] | None) -> Fact:
    """Two losses of one forward pass, the shared part of which has no name here: what it gave for this loss."""
    if other is None:
        return {}
    shared = set(told.nodes) & set(other[1].nodes) - set(told.order[-1:])
    graphs = {place for place in shared if told.children[place]}  # not a parameter alone
    if not graphs & told.freed:
        return {}
    found = []
    for aliases in scene.aliases.values():
        node = aliases[0].value.grad_fn
        if node is None or id(node) not in told.nodes or any(aliases[0].value is each for each in scene.roots):
            continue
        known = scene.made(sorted(aliases, key=lambda each: not each.holder)) if _meets(node, graphs) else None
        if known is not None:
            found.append((int(node._sequence_nr()), *known, node))
    if not found:
        return {}
    _, alias, made, node = min(found, key=lambda each: each[0])
    facts: Fact = {"pattern": "two losses", "name": alias.kept, "count": 1, "made": line_of(made, node)}
    top = [place for place in graphs if not any(place in told.children[one] for one in graphs)]
    networks = scene.networks(leaves(told, top))
    return {**facts, "networks": networks, "detach": {"neither": True}, "one_pass": True}


def _by_sites(scene: Scene, told: Walk) -> Fact:
    """Where nothing in reach has a name for it, and the lines were kept: the last line that made a part of it."""
    old = [each for each in told.nodes.values() if creation_sites.made_before_last_backward(each)]
    last = max(old, key=lambda each: int(each._sequence_nr()), default=None)
    site = creation_sites.site_of(last)
    if site is None:
        return {}
    file, line, text = site
    return {
        "pattern": "kept",
        "name": f"what line {line} made",
        "made": {"file": file, "line": line, "text": text, "exact": True},
        "networks": scene.networks(leaves(told, [id(last)])),
        "data": bool(scene.networks(leaves(told, told.order[-1:], without=[id(each) for each in old]))),
    }


def _carried_loss(scene: Scene, repeat: Repeat | None) -> list[Stale]:
    """The loss goes on from what it was in the pass before: `total = total + loss`."""
    aliases = scene.aliases.get(id(scene.roots[0]), []) if scene.roots and repeat is not None else []
    known = scene.made(aliases)
    kind = carried(known[1], scene.stack, repeat) if known is not None else ""
    return [(*known, [scene.roots[0].grad_fn], kind)] if known is not None and kind else []


def _below_another(told: Walk, one: Stale, every: list[Stale]) -> bool:
    """Whether it is only part of another's graph. What is carried on is the cause of what was computed from it."""
    if one[3] in ("call", "sum"):
        return False
    mine = {id(each) for each in one[2]}
    for other in every:
        if other is one or other[3] == "sum":
            continue
        theirs = {id(each) for each in other[2]}
        below = _below(told, theirs)
        if mine <= below - theirs:
            return True
    return any(other[3] == "call" and _below(told, mine) & {id(each) for each in other[2]} for other in every)


def _below(told: Walk, start: set[int]) -> set[int]:
    seen, ahead = set(start), list(start)
    while ahead:
        for child in told.children.get(ahead.pop(), ()):
            if child not in seen:
                seen.add(child)
                ahead.append(child)
    return seen


def _gone_through(scene: Scene, told: Walk) -> tuple[Any, Walk] | None:
    """Another loss in reach that backward() was called on: a node of it is freed, and this loss does not lead there."""
    looked = 0
    for aliases in scene.aliases.values():
        value = aliases[0].value
        if value.grad_fn is None or value.numel() != 1 or id(value.grad_fn) in told.nodes:
            continue
        looked += 1
        if looked > _LOSSES:
            break
        other = walk([value])
        if other.freed - set(told.nodes) and set(other.nodes) & told.freed:
            return value, other
    return None


def _call_on(scene: Scene, value: Any) -> Step | None:
    """The line that calls backward() on a tensor."""
    names = {each.path for each in scene.aliases.get(id(value), ())}

    def wanted(place: Place, call: ast.Call) -> bool:
        loss = asked_of(call)
        return loss is not None and (place.value(loss) is value or dotted(loss) in names)

    return next(steps_before(scene, wanted), None)


def _earlier(scene: Scene) -> Step | None:
    """A call of backward() before the one that failed, in the same loops."""
    for step in steps_before(scene, lambda _, call: asked_of(call) is not None):
        same = step.place is scene.stack[0]
        if not same or (scene.asked is not None and in_same_pass(step.place, step.call, scene.asked[1])):
            return step
    return None


def _made_before(scene: Scene, made: Made, step: Step) -> bool:
    """Whether something was made before a backward() that came before the failing one, and not again in between."""
    scopes = [each.scope for each in scene.stack]
    line: int = getattr(made.node, "lineno", 0)
    if made.place.scope is step.place.scope:
        return line <= step.call.lineno
    if made.place.scope in scopes:
        depth = scopes.index(made.place.scope)
        return line <= step.line if depth == step.depth else depth > step.depth
    outer = scene.stack[step.depth]
    calls = [each for each in calls_in(outer.scope) if leads_into(outer, each, made.place.scope)]
    return not any(step.line < each.lineno <= (outer.line or 0) for each in calls)


def _loss_itself(scene: Scene) -> Fact | None:
    """backward() is called on the same loss twice, nothing being computed in between."""
    if scene.asked is None or not (name := dotted(scene.asked[2])):
        return None
    place, call, _ = scene.asked
    here = node_at(place, call.lineno)
    lines = [each.statement.lineno for each in bindings(place.scope, name)]
    for step in steps_before(scene, lambda _, each: asked_of(each) is not None):
        other, loss = step.call, asked_of(step.call)
        if step.place is place and loss is not None and dotted(loss) == name and other is not call:
            if any(other.lineno <= line <= call.lineno for line in lines):
                return None
            if here is not None and in_same_pass(place, other, call):
                made = max((line for line in lines if line <= other.lineno), default=0)
                return {"first": line_told(place, other), "name": name, **_at(place, made)}
    repeat = repeat_of(scene.stack[:1])
    if repeat is not None and lines and name not in ("self",):
        first, last = repeat.loop.lineno, repeat.loop.end_lineno or repeat.loop.lineno
        if not any(first <= line <= last for line in lines):
            return {"first": {**line_told(place, call), "again": True}, "name": name, **_at(place, max(lines))}
    return None


def _at(place: Place, line: int) -> Fact:
    node = node_at(place, line)
    return {"made": line_told(place, node)} if node is not None else {}


def _pattern(made: Made, kind: str, how: Callable[[], str]) -> str:
    """recurrent state · sum · handed on · two losses · collected (· not emptied) · kept."""
    if kind == "kept":
        kind = how() or kind
    if kind in ("call", "sum"):
        return {"call": "recurrent state", "sum": "sum"}[kind]
    if kind in ("shared", "handed on"):
        return "two losses" if kind == "shared" else kind
    return "collected" if made.filled is not None else "kept"
