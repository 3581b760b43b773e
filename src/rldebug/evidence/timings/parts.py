"""Which part of a training loop a stack belongs to. Decided by what is known for certain first:

1. The user's own name for it (`rldebug.span`), an environment being called, and frames of libraries: backward, an
   optimizer, a logger.
2. A network is called: the next thing to happen says what for. A step of an environment: it acts; backward: it learns.
3. All else by where it stands between the calls that are known: a line that stores what `step()` has just returned
   writes the buffer; between the first network of an update and `backward()` it is the loss; before that, a batch is
   taken or advantages are worked out; after the optimizer's step, networks are copied.

No name of the user's plays a part in it. What remains is the user's own: "other", by function.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from rldebug.evidence.source import Source
from rldebug.evidence.timing import Environment, Slice
from rldebug.evidence.timings.in_environment import part_inside, renders
from rldebug.evidence.timings.libraries import CONVERSIONS, PRINTS, SAVES, told
from rldebug.evidence.timings.nodes import called_at
from rldebug.evidence.timings.purpose import converts, joins
from rldebug.evidence.timings.statements import draws, saves, touches_weights, works_over_returns, writes_priorities
from rldebug.evidence.timings.training_loop import TrainingLoop
from rldebug.evidence.timings.ways import Way, comes_after, leads_to, lies_between

_ASLEEP = ("time.sleep",)


def with_parts(slices: Sequence[Slice], environments: Sequence[Environment], sources: Sequence[Source]) -> list[Slice]:
    known = {each.file: each for each in sources}
    slices = [dataclasses.replace(each, called=_called(each, known)) for each in slices]
    evaluations = frozenset(place for place, each in enumerate(environments) if each.evaluation)
    loop = TrainingLoop(slices, known)
    return [dataclasses.replace(each, part=_part(each, loop, evaluations)) for each in slices]


def _called(each: Slice, sources: dict[str, Source]) -> str:
    spot = each.user
    source = sources.get(spot.file) if spot is not None else None
    return "" if spot is None or source is None else called_at(source, spot)


def _part(each: Slice, loop: TrainingLoop, evaluations: frozenset[int]) -> str:
    if each.span:
        return each.span
    if renders(each):
        return "rendering"
    if each.env in evaluations and each.after in ("step", "reset"):
        return "evaluation"
    if each.inside:
        return part_inside(each)
    if loop.draws_picture(each):
        return "rendering"
    signs = [sign for sign in map(told, each.stack) if sign]
    for sign in ("backward", "logging", "saving", "optimizer"):
        if sign in signs:
            return sign
    calls = loop.calls(each)
    if not calls.isdisjoint(SAVES):
        return "saving"
    if not calls.isdisjoint(PRINTS):
        return "logging"
    for sign in ("buffer write", "buffer sample", "advantages"):  # by a library's own
        if sign in signs:
            return sign
    if "module" in signs:
        return "acting" if each.after in ("step", "reset") else loop.learns(each)
    if found := loop.purpose(each):
        return found
    if "waiting" in signs:
        return "waiting"
    if each.called in CONVERSIONS and _innermost_is_users(each):
        return "buffer write" if loop.stored.puts(each) else "copies"
    if "distribution" in signs and each.after in ("step", "reset", "backward"):
        return "loss" if each.after == "backward" else "acting"
    found = _by_place(each, loop)
    return "waiting" if found == "other" and each.called in _ASLEEP else found


def _innermost_is_users(each: Slice) -> bool:
    return bool(each.stack) and each.stack[-1].kind == "user"


# ── by its place in the loop ────────────────────────────────────────────────────────────────────────────────────────


def _by_place(each: Slice, loop: TrainingLoop) -> str:
    if loop.stored.puts(each):
        return "buffer write"
    mine = loop.mine(each)
    if not mine:
        return "other"
    if saves(each, loop):
        return "saving"
    if works_over_returns(each, loop):
        return "advantages"
    if each.before == "update" and touches_weights(each, loop) and not leads_to(mine, loop.learning):
        return "target networks"
    if each.before == "update" and writes_priorities(each, loop):
        return "buffer write"
    if each.after in ("step", "reset") or (each.after == "backward" and loop.per_step(mine)):
        if _acts(each, mine, loop):
            return "acting"
        return "copies" if any(converts(*one) for one in loop.below(each)) else "other"
    if each.after == "backward":
        return _before_backward(each, mine, loop)
    if each.before == "backward" and each.after == "update":
        return "loss" if leads_to(mine, loop.learning) else "other"
    return "other"


def _acts(each: Slice, mine: Way, loop: TrainingLoop) -> bool:
    """On a line that leads to a network, or to what the step is given; or an operation of torch between that line and
    the step."""
    if leads_to(mine, loop.acting) or loop.shares_function(mine, loop.acting) or loop.chosen.works_out(each):
        return True
    if not each.called.startswith("torch.") or not _innermost_is_users(each):
        return False
    return any(lies_between(mine, first, step) for first in loop.acting for step in loop.stepping)


def _before_backward(each: Slice, mine: Way, loop: TrainingLoop) -> str:
    if leads_to(mine, loop.learning) or loop.shares_function(mine, loop.learning):
        return "loss"
    if any(lies_between(mine, first, last) for first in loop.learning for last in loop.backwards):
        return "loss"
    if each.before == "update" and any(comes_after(mine, way) for way in loop.updates):
        return "other"  # what is done after an update, before the next
    return _taken(each, mine, loop)


def _taken(each: Slice, mine: Way, loop: TrainingLoop) -> str:
    """Before the first network of an update: a batch is taken, or a rollout is worked over once."""
    if not loop.learning and not works_over_returns(each, loop):
        return "loss"  # what acted has kept its graph: nothing is called again
    if loop.per_update(mine) or draws(each, loop) or any(joins(*one) for one in loop.below(each)):
        return "buffer sample"
    return "advantages"
