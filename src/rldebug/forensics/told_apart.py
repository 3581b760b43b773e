"""Told apart: which step of its stretch of acting each row of a loss is, where observations come back.

Rows in the order of the acting are told by that (lined_up). Shuffled ones are not. But on-policy each is a step of the
stretch that was just acted: one that looks so, and took the action that the loss has for the row. Often that is one
only. Where it is several, they have each their own target, and the targets of a class are known as a set: a formula is
supposed, says what the target of each step would be, and is believed where nearly all rows find theirs (row_sets).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from rldebug.evidence.script import UNKNOWN, Audit, Event, Script
from rldebug.forensics.brought import brought, elsewhere
from rldebug.forensics.lined_up import lined_up
from rldebug.forensics.node_places import Array, Ints, base_update, column_of, places_of, same
from rldebug.forensics.padded_episodes import padded
from rldebug.forensics.row_sets import Classes, Known, paired
from rldebug.forensics.target_calls import traced
from rldebug.forensics.translated import translation

_TWINS = 0.02  # share of rows that may be several steps, from which on they are told apart
_ALONE = 8  # rows with one step only, for their actions to be compared
_AGREE = 0.98  # share of the rows with one step only whose action is the one that was taken: actions tell


@lru_cache(maxsize=8)
def told_apart(script: Script) -> tuple[Audit, ...]:
    """The audits, with the true step in each row of an on-policy loss, as far as it is known; else UNKNOWN."""
    known, theirs = Known(), elsewhere(script)
    return tuple(_apart(brought(lined_up(padded(each)), theirs), known) for each in script.audits)


@dataclass(eq=False)
class _Bundle:
    """Terms about the same rows: the value and the policy of one minibatch."""

    base: int
    rows: Ints  # ids
    terms: list[Event]
    looks: Ints
    actions: Array | None = None
    targets: Array | None = None
    places: Ints | None = None

    def takes(self, term: Event, base: int) -> bool:
        first = self.terms[0]
        return (
            self.base == base
            and term.update - first.update <= 1
            and np.array_equal(term.arrays["rows"], self.rows)
            and all(each["kind"] != term["kind"] or each.get("op") != term.get("op") for each in self.terms)
        )


def _apart(audit: Audit, known: Known) -> Audit:
    nodes = audit.nodes
    if not len(nodes) or not (nodes.alike != 0).any():
        return audit
    bundles = _bundles(audit)
    ids: dict[int, tuple[Ints, int]] = {}
    sure = np.zeros(len(nodes), dtype=bool)
    for base in {each.base for each in bundles}:
        own = [each for each in bundles if each.base == base]
        if not _told(audit, base, own, known):
            continue
        for each in own:
            assert each.places is not None
            sure[each.places[each.places >= 0]] = True
            for term in each.terms:
                ids[term.order] = (np.where(each.places >= 0, nodes.id[each.places], UNKNOWN), base)
    if not ids:
        return audit
    events = tuple(
        replace(
            each,
            arrays={**each.arrays, "rows": ids[each.order][0]},
            detail={**each.detail, "stretch": ids[each.order][1]},
        )
        if each.kind == "term" and each.order in ids
        else each
        for each in audit.events
    )
    return replace(audit, nodes=replace(nodes, alike=np.where(sure, 0, nodes.alike)), events=events)


def _bundles(audit: Audit) -> list[_Bundle]:
    look = same(audit.nodes)
    found: list[_Bundle] = []
    for _, terms in audit.losses:
        for term in [traced(audit, each, terms) for each in terms]:
            rows = term.arrays.get("rows")
            if rows is None or len(rows) < 2 or term["kind"] not in ("regression", "policy"):
                continue
            if term["kind"] == "regression" and "index" in term.arrays:
                continue  # of chosen actions: target_twins
            base = base_update(audit, term)
            if base is None:
                continue
            places = places_of(audit.nodes, rows)
            known = places >= 0
            bundle = next((each for each in found[-3:] if each.takes(term, base)), None)
            if bundle is None:
                bundle = _Bundle(base, rows, [], np.where(known, look[places], UNKNOWN))
                found.append(bundle)
            bundle.terms.append(term)
            index = term.arrays.get("index", term.arrays.get("action"))
            if term["kind"] == "policy" and index is not None and len(index) == len(rows):
                bundle.actions = np.asarray(index, dtype=np.float64).reshape(len(rows), -1)
            if term["kind"] == "regression" and bundle.targets is None:
                bundle.targets = column_of(term, "target")
    return found


def _told(audit: Audit, base: int, bundles: Sequence[_Bundle], known: Known) -> bool:
    """Puts down the places of the rows. False where each row was one step only anyway."""
    nodes, look = audit.nodes, same(audit.nodes)
    steps = np.flatnonzero(nodes.acted & (nodes.update == base))
    for each in bundles:
        places = places_of(nodes, each.rows)
        if ((places >= 0) & (np.where(places >= 0, nodes.alike[places], 0) != 0)).mean() > _TWINS:
            break
    else:
        return False
    classes = _classes(audit, bundles, steps, look)
    rows = [classes.of(each.looks, each.actions if classes.acts else None) for each in bundles]
    for each, members in zip(bundles, rows, strict=True):
        each.places = np.array([one[0] if len(one) == 1 else UNKNOWN for one in members], dtype=np.int64)
    if any((each.places < 0).mean() > _TWINS for each in bundles if each.places is not None):
        with_targets = [number for number, each in enumerate(bundles) if each.targets is not None]
        terms = [term for each in bundles for term in each.terms if term["kind"] == "regression"]
        told = paired(audit, base, steps, [rows[n] for n in with_targets],
                      [bundles[n].targets for n in with_targets], terms, known)  # fmt: skip
        for number, places in zip(with_targets, told or (), strict=False):
            bundles[number].places = places
    return True


def _classes(audit: Audit, bundles: Sequence[_Bundle], steps: Ints, look: Ints) -> Classes:
    """By the action too, where the rows that are one step only show that the loss has the actions that were taken."""
    action = audit.nodes.action[steps]
    plain = Classes.make(look[steps], steps)
    taken = dict(zip(steps.tolist(), action, strict=True))
    chosen, executed = [], []
    for each in bundles:
        if each.actions is None or each.actions.shape[1] != action.shape[1]:
            continue
        for row, members in enumerate(plain.of(each.looks, None)):
            if len(members) == 1:
                chosen.append(each.actions[row])
                executed.append(taken[members[0]])
    if len(chosen) < _ALONE:
        return plain
    own, given = np.stack(chosen), np.stack(executed)
    if (np.abs(own - given).max(axis=1) <= 1e-5).mean() < _AGREE:
        table = translation(own[:, 0], given[:, 0]) if own.shape[1] == 1 else None
        if table is None:
            return plain
        for each in bundles:
            if each.actions is not None:
                each.actions = np.array([[table.get(float(one), np.nan)] for one in each.actions[:, 0]])
    return Classes.make(look[steps], steps, action)


__all__ = ["told_apart"]
