"""From the line where a fault showed to the statement that does it: by what flows where in the text of the program.

A loss or a call of a network is what rules see; what is wrong was computed before. One statement where only one can be
meant, a few lines of one function where several can; and where not even that is known, the line stays what it was.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence

from rldebug.evidence.script import Script
from rldebug.evidence.source import Source
from rldebug.finding import Finding, Where
from rldebug.forensics import aimed_acting, aimed_around, aimed_ends, aimed_learning, aimed_terms, aimed_worlds
from rldebug.forensics.program_text import FUNCTION, SPAN, Text, begin, end
from rldebug.syntax.places import Function, function_of

FOUND: Mapping[str, Callable[[Text, Finding], Sequence[ast.AST]]] = {
    "formula": aimed_learning.formula,  # rewards become returns
    "sums": aimed_learning.sums,  # rewards of several steps are summed
    "ends": aimed_learning.ends,  # ends of episodes cut the future off
    "flags": aimed_ends.ends,  # the same, or the flag that was stored of an end
    "carried": aimed_ends.cut,  # what is carried from step to step is cut off at ends
    "trace": aimed_ends.trace,  # each sum has a share of the one before it
    "discount": aimed_learning.discount,  # the same; or the discount that a library is given
    "next": aimed_learning.following,  # what is expected of the next state, and added to the reward
    "again": aimed_worlds.again,  # one observation for two
    "weight": aimed_learning.weight,  # what the loss makes of returns: advantages, targets
    "advantage": aimed_learning.advantage,  # a return less what was expected
    "weighed": aimed_terms.weighed,  # scores are compared, before log-probs are weighed by them
    "noise": aimed_learning.noise,  # what is added to actions in the next state
    "scored": aimed_learning.scored,  # a network is asked, and something made of its answer
    "loss": aimed_learning.loss,  # what is minimised
    "joined": aimed_terms.joined,  # a term is given its sign and weight, and added to what is minimised
    "pushed": aimed_terms.pushed,  # log-probs are multiplied with what they are worth
    "branch": aimed_terms.branch,  # the smaller of two surrogates is taken
    "ratio": aimed_terms.reused,  # log-probs of now and then become a ratio
    "ordered": aimed_ends.ordered,  # targets are brought into the order in which they are learned
    "compared": aimed_terms.compared,  # predictions and targets of a regression are made
    "predicted": aimed_terms.predicted,  # predictions alone
    "marked": aimed_terms.marked,  # it is kept which draws count
    "memory": aimed_ends.memory,  # the state of a network goes on through a sequence
    "window": aimed_ends.window,  # rewards of several steps wait to be summed
    "rows": aimed_acting.rows,  # what an environment gave is stored
    "indices": aimed_acting.indices,  # rows are drawn
    "clipped": aimed_acting.clipped,  # actions are cut off at their bounds
    "acted": aimed_acting.acted,  # the environment is stepped
    "drawn": aimed_acting.drawn,  # actions are drawn
    "sampled": aimed_acting.sampled,  # the same, of a distribution that a network gives
    "density": aimed_terms.density,  # the log-prob of what was drawn is taken
    "scores": aimed_acting.scores,  # chances are made of what a network gives
    "threshold": aimed_acting.threshold,  # how often actions are random
    "statistics": aimed_acting.statistics,  # moments of observations are taken
    "copies": aimed_around.copying,  # weights go from one network into another
    "followed": aimed_around.followed,  # the same, for each target that is to follow
    "alias": aimed_around.aliases,  # a network gets a second name
    "environment": aimed_around.stepping,  # step() of the environment
    "reset": aimed_around.resetting,  # reset() of the environment
    "frames": aimed_around.frames,  # the wrapper that stacks observations
    "made": aimed_around.made,  # the environment is made
    "shared": aimed_worlds.shared,  # an array is handed out again and again
    "restarted": aimed_worlds.restarted,  # reset() is called between episodes
    "seeded": aimed_worlds.seeded,  # reset() is given a seed
    "evaluation": aimed_around.evaluation,  # episodes are played that nothing is learned from
    "optimizer": aimed_around.optimizer,  # an optimizer is made
    "held": aimed_around.held,  # parameters are chosen for the optimizer that steps after a loss
    "rates": aimed_around.rates,  # learning rates are set
}
"""Aim of a rule, what it speaks about -> the statements in which that is computed."""

_LONGEST = 500_000  # characters of a program; in longer ones it would take seconds


def placed(
    findings: Iterable[Finding], script: Script, sources: Sequence[Source], aims: Mapping[str, str]
) -> list[Finding]:
    """The findings, each at the statement that does what it speaks of, as far as that is certain. `aims`: of codes."""
    if not sources or sum(len(each.text) for each in sources) > _LONGEST:
        return list(findings)
    text = Text(script, sources)
    return [_placed(each, text, aims[each.code]) if aims.get(each.code) in FOUND else each for each in findings]


def _placed(finding: Finding, text: Text, aim: str) -> Finding:
    found = FOUND[aim](text, finding)
    where = _where(text, list(found), finding.where)
    return finding if where is None else dataclasses.replace(finding, where=where)


def _where(text: Text, nodes: Sequence[ast.AST], old: Where) -> Where | None:
    lines = _lines(text, nodes)
    if lines is None:
        return None
    source, first, last, function = lines
    same = text.source(old.file) is source and old.line is not None
    if same and first <= (old.line or 0) <= last and _one(nodes):
        return None  # it points at this statement already
    seen = f"{old.file}:{old.line}" if old.file and old.line and not (same and first <= old.line <= last) else None
    where = dataclasses.replace(old, file=old.file if same else source.file, line=first, column=None, seen_at=seen)
    return where if last == first or _one(nodes) else dataclasses.replace(where, end_line=last, function=function)


def _one(nodes: Sequence[ast.AST]) -> bool:
    return len(set(nodes)) == 1 and not isinstance(nodes[0], Function | ast.ClassDef)


def _lines(text: Text, nodes: Sequence[ast.AST]) -> tuple[Source, int, int, str | None] | None:
    """File, first and last line, function: where all of it stands in one function, and not far apart."""
    homes = {text.program.home[each] for each in nodes}
    if len(homes) != 1:
        return None
    source = homes.pop()
    around = {each if isinstance(each, Function) else function_of(source, each) for each in nodes}
    if len(around) != 1:
        return None
    function = around.pop()
    first = min(begin(each) for each in nodes)
    last = max(end(each) for each in nodes)
    owner = nodes[0] if isinstance(nodes[0], ast.ClassDef) else function
    name = owner.name if owner is not None else None
    whole = any(isinstance(each, Function | ast.ClassDef) for each in nodes)
    far = not _one(nodes) and last - first >= (FUNCTION if whole else SPAN)
    return None if far else (source, first, last, name)
