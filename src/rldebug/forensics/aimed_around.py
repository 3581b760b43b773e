"""The statements around learning: environments, seeds, evaluation, copies of weights, optimizers."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from rldebug.finding import Finding, Where
from rldebug.forensics.followers import followers
from rldebug.forensics.program_text import Text, last, statements
from rldebug.syntax.across import Value, back, run_by
from rldebug.syntax.bindings import reaching
from rldebug.syntax.copies import copies
from rldebug.syntax.kinds import kind
from rldebug.syntax.mentions import in_setup
from rldebug.syntax.names import argument, method
from rldebug.syntax.places import Function, calls, function_of, loops_of, statement_of
from rldebug.syntax.quantities import stepped, walk

_STACKS = frozenset({"append", "appendleft", "roll", "stack", "concatenate", "cat", "deque"})


def copying(text: Text, finding: Finding) -> Sequence[ast.AST]:
    known = [(source, each.node) for source in text.sources for each in copies(source)]
    later = [node for source, node in known if not in_setup(source, node)]
    return later or [node for _, node in known]


def stepping(text: Text, finding: Finding) -> Sequence[ast.AST]:
    return _methods(text, classes(text), "step")


def resetting(text: Text, finding: Finding) -> Sequence[ast.AST]:
    return _methods(text, classes(text), "reset")


def frames(text: Text, finding: Finding) -> Sequence[ast.AST]:
    wrappers = _classes(text, _facts(text).get("wrappers") or [])
    keeping = [each for each in wrappers if any(last(one) in _STACKS for one in ast.walk(each))]
    return keeping if len(keeping) == 1 else wrappers if len(wrappers) == 1 else []


def _facts(text: Text) -> dict[str, Any]:
    """Of the environment that was learned from."""
    streams = text.script.streams
    chosen = next((each for each in streams if each.get("learned")), streams[0] if streams else {})
    facts = chosen.get("facts")
    return dict(facts) if isinstance(facts, dict) else {}


def _classes(text: Text, names: Sequence[object]) -> list[ast.ClassDef]:
    nodes = (each for source in text.sources for each in ast.walk(source.tree))
    return [each for each in nodes if isinstance(each, ast.ClassDef) and each.name in names]


def classes(text: Text) -> list[ast.ClassDef]:
    """Of the environment that was learned from, where it is the program's own."""
    return _classes(text, [_facts(text).get("class")])


def _methods(text: Text, owners: Sequence[ast.ClassDef], name: str) -> list[ast.AST]:
    return [each for owner in owners for each in owner.body if isinstance(each, Function) and each.name == name]


def made(text: Text, finding: Finding) -> Sequence[ast.AST]:
    created = _facts(text).get("created")
    if not isinstance(created, list):
        found = [(source, each) for source in text.sources for each in calls(source)]
        return [statement_of(source, each) for source, each in found if kind(source, each) == "vector-env"]
    statement = text.statement(Where(file=str(created[0]), line=int(created[1])))
    return [] if statement is None else [statement]


def restarted(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """Where the loop that learns begins the next episode."""
    played = {text.learned.scope(each) for each in stepped(text.learned)}
    resets = [each for source in text.sources for each in calls(source) if method(each) == "reset"]
    mine = [each for each in resets if text.learned.scope(each) in played]
    return statements(text.learned, [each for each in mine if loops_of(text.program.home[each], each)])


def seeded(text: Text, finding: Finding) -> Sequence[ast.AST]:
    asked = (each for source in text.sources for each in calls(source))
    given = [each for each in asked if method(each) == "reset" and argument(each, 0, "seed") is not None]
    played = {text.learned.scope(each) for each in stepped(text.learned)}
    mine = [each for each in given if text.learned.scope(each) in played]
    again = [each for each in mine if loops_of(text.program.home[each], each)]
    return statements(text.learned, again or mine)


def evaluation(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """The function that steps an environment and whose steps no loss learns from."""
    at = text.statement(finding.where)
    learned = {text.learned.scope(each) for each in stepped(text.learned)}
    here = None if at is None else text.learned.scope(at)
    if isinstance(here, Function) and here not in learned and here in map(text.learned.scope, text.program.steps):
        return [here]
    others = {text.learned.scope(each) for each in text.program.steps} - learned
    played = [each for each in others if isinstance(each, Function) and not _in_class_of_envs(text, each)]
    return played if len(played) == 1 else []


def _in_class_of_envs(text: Text, function: ast.AST) -> bool:
    return getattr(function, "name", "") in ("step", "reset")


def optimizer(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """Where the optimizer was made that steps at the place of a finding."""
    at = (finding.where.file, finding.where.line)
    names = {each["optimizer"] for _, each in text.script.events("step") if tuple(each.get("line") or ()) == at}
    made = [text.script.optimizers.get(name, {}).get("created") for name in names]
    if len(made) != 1 or not isinstance(made[0], list):
        return []
    statement = text.statement(Where(file=str(made[0][0]), line=int(made[0][1])))
    return [] if statement is None else [statement]


def aliases(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """Where a second name is given to a network, if that is done once."""
    found = []
    for source in text.sources:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Assign) and _is_second_name(text, node):
                found.append(node)
    return found if len(found) == 1 else []


def _is_second_name(text: Text, node: ast.Assign) -> bool:
    source, value = text.program.home[node], node.value
    if len({type(each) for each in node.targets}) != 1 or kind(source, value) != "module":
        return False
    if isinstance(value, ast.Call):
        return len(node.targets) > 1
    if not isinstance(value, ast.Name | ast.Attribute) or not isinstance(node.targets[0], type(value)):
        return False
    return all(isinstance(each.whole, ast.Call) for each in reaching(source, value))


def followed(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """Where targets follow: the calls of the function that copies, where others do follow and one for this target is
    missing; else the copy."""
    nodes = copying(text, finding)
    around = [function_of(text.program.home[each], each) for each in nodes]
    others = not all(each.still for each in followers(text.script))
    if len(nodes) != 1 or around[0] is None or not others:
        return nodes
    asked = [(source, each) for source in text.sources for each in calls(source)]
    made = [each for source, each in asked if around[0] in run_by(text.program, each) and not in_setup(source, each)]
    return statements(text.learned, made) or nodes


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
