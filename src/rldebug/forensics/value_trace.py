"""A stretch of acting as the critic saw it: values, rewards and ends of consecutive steps of one environment.

`rldebug.watch` is handed the values of a rollout. Under `rldebug run` they are in the audits: in the calls of the
critic on what was acted on, and in what the losses predicted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rldebug.evidence.script import UNKNOWN, Audit, Event, Script
from rldebug.forensics.acting_values import by_look, values_of
from rldebug.forensics.node_places import Array, Ints, after, column_of, given_up, places_of
from rldebug.forensics.roles import Roles, roles_of

STEPS = 256  # of a trace at most
_FEWEST = 8
_AUDITS = 12  # the newest, that are looked at
_KNOWN = 0.6  # share of the steps of a trace whose value is known
_ACTIONS = 64  # of a network that gives a value for each


@dataclass(frozen=True)
class Trace:
    update: int  # optimizer steps before it was acted, or before what was acted long ago was learned from
    env_step: int
    value: tuple[float, ...]  # NaN where the critic was not asked: an exploring action
    reward: tuple[float, ...]
    end: tuple[int, ...]  # 1 terminated, 2 truncated, 0 neither
    what: str  # "V(s)", "max Q(s, a)", "Q(s, a)"
    evaluation: bool = False  # played, and not learned from


def value_trace(script: Script) -> Trace | None:
    """The longest of the second half of what was seen, else of what was before; None where no values of consecutive
    steps were seen."""
    roles = roles_of(script)
    newest = max((each.update for each in script.audits), default=0)
    best: Trace | None = None
    for audit in list(reversed(script.audits))[:_AUDITS]:
        if best is not None and 2 * audit.update < newest:
            break
        for what, value in _values(script, roles, audit):
            found = _trace(roles, audit, what, value)
            if found is not None and (best is None or len(found.value) > len(best.value)):
                best = found
    return best


def _values(script: Script, roles: Roles, audit: Audit) -> Iterator[tuple[str, Array]]:
    """By node, and what they are; NaN where it is not known."""
    nodes = audit.nodes
    if not len(nodes):
        return
    terms = [each for each in audit.terms("regression") if "index" not in each.arrays]
    of_actions = [each for each in terms if not roles.on_policy and _takes_action(audit, each)]
    of_states = [each for each in terms if each not in of_actions]
    if of_states:
        yield "V(s)", _of_states(audit, of_states)
    answers = _of_all_actions(script, roles, audit)
    if answers:
        yield "max Q(s, a)", _spread(audit, answers)
    if of_actions:
        yield "Q(s, a)", _of_actions_taken(audit, of_actions)


def _takes_action(audit: Audit, term: Event) -> bool:
    """Whether the network is given an action too, as a part of its input or beside it."""
    reached, width = set(term.get("reached") or ()), audit.nodes.action.shape[1]
    return term.get("match") == "slice" or any(
        each["module"] in reached and "input1" in each.arrays and each.arrays["input1"].shape[1:] == (width,)
        for each in audit.calls
    )


def _of_states(audit: Audit, terms: list[Event]) -> Array:
    """Values with the weights of the acting, of each stretch between updates by itself."""
    nodes = audit.nodes
    value = np.full(len(nodes), np.nan)
    acted = nodes.acted & ~nodes.phantom
    bases = np.unique(nodes.update[acted])
    for base, until in zip(bases.tolist(), [*bases.tolist()[1:], None], strict=True):
        learned = [each for each in terms if each.update >= base and (until is None or each.update < until)]
        steps = np.flatnonzero(acted & (nodes.update == base))
        if learned:
            value[steps] = _spread(audit, dict(values_of(audit, int(base), learned, steps)))[steps]
    return value


def _of_all_actions(script: Script, roles: Roles, audit: Audit) -> dict[int, float]:
    """The best value that a network gave to any action; where it acted rather than where it learned."""
    counts = {(each.get("facts") or {}).get("action_n") for each in script.streams} - {None}
    found: dict[int, float] = {}
    for event in sorted(audit.calls, key=lambda each: not each.get("acting")):
        ids, output = event.arrays.get("rows"), event.arrays.get("output0")
        if event["module"] not in roles.q or ids is None or output is None or len(output) != len(ids):
            continue
        answers = output.reshape(len(ids), -1)
        if not 2 <= answers.shape[1] <= _ACTIONS or (counts and answers.shape[1] not in counts):
            continue  # a distribution for each action, or something else
        best = answers.max(axis=1).tolist()
        for place, each in zip(places_of(audit.nodes, ids).tolist(), best, strict=True):
            if place >= 0:
                found.setdefault(place, each)
    return found


def _of_actions_taken(audit: Audit, terms: list[Event]) -> Array:
    """What losses predicted for the action that was taken; the newest."""
    nodes = audit.nodes
    value = np.full(len(nodes), np.nan)
    for term in terms:
        if term.get("reached") != terms[0].get("reached"):
            continue  # of several critics one
        predicted, rows = column_of(term, "prediction"), term.arrays.get("rows")
        if predicted is not None and rows is not None and len(predicted) == len(rows):
            places = places_of(nodes, rows)
            known = (places >= 0) & (np.append(nodes.alike, 1)[places] == 0)
            value[places[known]] = predicted[known]
    return value


def _spread(audit: Audit, found: dict[int, float]) -> Array:
    """Also to nodes that look the same."""
    value = by_look(audit, found)[:-1]
    value[list(found)] = list(found.values())
    return value


def _trace(roles: Roles, audit: Audit, what: str, value: Array) -> Trace | None:
    nodes = audit.nodes
    onward = after(nodes)
    best: Ints | None = None
    for chain in _chains(audit, onward):
        part = _window(np.isfinite(value[chain]))
        steps = chain[part]
        if len(steps) and (best is None or (len(steps), steps[-1]) > (len(best), best[-1])):
            best = steps
    if best is None:
        return None
    left = given_up(nodes, best, onward[best])
    end = np.where(nodes.terminated[best], 1, np.where(nodes.truncated[best] | left, 2, 0))
    stream = int(nodes.stream[best[0]])
    return Trace(
        update=max(int(nodes.update[best[-1]]), audit.update),
        env_step=audit.env_step,
        value=tuple(value[best].tolist()),
        reward=tuple(nodes.reward[best].tolist()),
        end=tuple(end.tolist()),
        what=what,
        evaluation=stream != roles.stream and stream in roles.others,
    )


def _chains(audit: Audit, onward: Ints) -> Iterator[Ints]:
    """Places of steps that were taken one after the other, in one lane."""
    nodes = audit.nodes
    acted = np.append(nodes.acted & ~nodes.phantom, False)
    follow = np.where(acted[onward] & acted[:-1], onward, UNKNOWN)
    skipped = np.append(nodes.phantom, False)[onward]  # a step that only resets stands between two episodes
    beyond = onward[np.where(skipped, onward, 0)]
    follow = np.where(skipped & acted[:-1] & acted[beyond], beyond, follow)
    led_to = np.zeros(len(nodes) + 1, dtype=bool)
    led_to[follow] = True
    for start in np.flatnonzero(acted[:-1] & ~led_to[:-1]).tolist():
        chain = [start]
        while (step := int(follow[chain[-1]])) >= 0 and len(chain) <= len(nodes):
            chain.append(step)
        if len(chain) >= _FEWEST:
            yield np.array(chain, dtype=np.int64)


def _window(known: np.ndarray) -> slice:
    """The longest stretch, of those the newest, in which most values are known; without unknown ones at its ends."""
    total = np.concatenate([[0], np.cumsum(known)])
    length = min(STEPS, len(known))
    while length >= _FEWEST:
        good = np.flatnonzero(total[length:] - total[:-length] >= _KNOWN * length)
        if len(good):
            inside = np.flatnonzero(known[good[-1] : good[-1] + length]) + good[-1]
            return slice(int(inside[0]), int(inside[-1]) + 1)
        length = length // 2 if length > 2 * _FEWEST else length - 1
    return slice(0, 0)
