"""A prioritised replay buffer under audit: how often rows come, and with which weights."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldebug.oracles.audit.coding import Form, Given, Report, table
from rldebug.oracles.audit.drive import (
    ALPHA,
    BETA,
    Played,
    Scene,
    feed,
    play,
    rows_for,
    sampler,
    wants,
)
from rldebug.oracles.audit.make import _KINDS, Stuck, construct, fields, needed, parameters, plans
from rldebug.oracles.audit.names import MAKE, READ, role
from rldebug.oracles.audit.read import Columns, columns, distinct, named, read, stacked
from rldebug.oracles.audit.ring import check_ring
from rldebug.oracles.audit.rows import HOW, check, hold
from rldebug.oracles.audit.weights import Session, check_weights
from rldebug.oracles.call import Raised, call
from rldebug.oracles.names import plain

TIMES = 70
MANY = 1000  # samples of 4 rows: a share of 1/4 is then known to 0.007
NEAR = 0.045  # from the right share; more than six times that
SCALE = 16.0  # of the errors: what is added to them to keep them above 0 is then next to nothing
ERRORS = np.array([1.0, 1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 2, 1 / 4, 1 / 8])
PLAIN = (Scene("5 transitions in room for 8", 5), Scene("8 transitions in room for 8", 8))
FULL = Scene("8 transitions in room for 8, with priorities", 8)
ONE_MORE = Scene("8 transitions with priorities in room for 8, then a new one", 9)


def audit(target: Any, form: Form, at: int, given: Given) -> Report:
    report = Report(convention=form.said())
    for number, scene in enumerate(PLAIN):
        played = play(target, scene, form, given, times=TIMES, at=at)
        report.mapping = report.mapping or played.mapping
        if played.raised:
            said = f"{played.phase} raised {played.raised}, on {scene.name}"
            if number == 0:
                report.stuck = said
            else:
                report.add("", said, "a sample")
            return report
        reading = read(distinct(stacked(played.calls))[0], form)
        if reading.obs is None:
            report.stuck = f"what it returns is not understood: expected {played.rows} observations"
            return report
        rows = hold(reading, scene.track, scene.name, played.takes)
        own = Report()
        check(rows, own, sums=True)
        check_ring(rows, scene, own)
        for fault in own.faults:
            kept = fault.name in ("unfilled-rows", "last-row-never-sampled")
            report.add(fault.name if kept else "rows-mispaired", fault.seen, fault.expected, fault.table)
        report.scenes += 1
    if report.faults:
        return report
    report.final = True  # rows are whole: what follows does not depend on the form
    session = _prioritised(target, form, at, given, report, FULL, scale=SCALE)
    if session is None:
        return report
    report.scenes += 1
    _shares(session, report)
    if [fault.name for fault in report.faults] == [
        "not-by-priority"
    ]:  # or errors count for 1 at most: then they were alike
        small, own = _prioritised(target, form, at, given, report, FULL), Report()
        if small is not None:
            _shares(small, own)
        if small is not None and not own.faults:
            report.faults, session = [], small
    check_weights(session, report)
    if "priority" not in session.takes and not report.faults:
        again = _prioritised(target, form, at, given, report, ONE_MORE, scale=SCALE)
        if again is not None:
            report.scenes += 1
            _newest(again, report)
    return report


def _prioritised(
    target: Any, form: Form, at: int, given: Given, report: Report, scene: Scene, scale: float = 1.0
) -> Session | None:
    """Make, feed, learn which index is whose, set priorities, sample. None where something went wrong and was told."""
    said = ""
    for style in ("numpy", "list", "torch", "one by one"):
        outcome = call(_session, (target, form, at, given, report, scene, scale, style), {}, seconds=20.0)
        if not isinstance(outcome, Raised):
            return outcome  # type: ignore[no-any-return]
        if isinstance(outcome.error, Stuck):
            report.stuck = str(outcome.error)
            return None
        said = said or outcome.said
    report.add("", f"it raised {said}, on {scene.name}", "priorities to be set")
    return None


def _session(
    target: Any, form: Form, at: int, given: Given, report: Report, scene: Scene, scale: float, style: str
) -> Session | None:
    first = Scene(scene.name, 8)
    buffer, _ = construct(target, wants(first, form), form, given)
    name, add = needed(buffer, "add", given, "add(self, obs, action, reward, next_obs, done)")
    plan = plans(buffer, name, add, given)[at]
    played = Played(rows=rows_for(form))
    feed(buffer, first, form, plan, add, played)
    draw = sampler(buffer, form, given, played)
    seen = [columns(draw(), played.rows) for _ in range(TIMES)]
    index = _indices(seen, form, first, played, report)
    if index is None:
        return None
    steps = [step.number for step in first.track.all]
    errors = dict(zip(steps, (ERRORS * scale).tolist(), strict=True))
    _update(buffer, given, [index[step] for step in steps], [errors[step] for step in steps], style, report)
    if scene.length > 8:
        last = Scene(scene.name, scene.length).track.steps
        args, named_ = plan.build(fields(last[-1], form, last[-2]))
        add(*args, **named_)
        del errors[steps[0]]
    beta = _beta(buffer, played)
    session = Session(scene, errors, _setting(buffer, "alpha", ALPHA), beta, plan.takes)
    track = Scene(scene.name, scene.length).track
    session.steps = {step.number: step for step in track.all}
    _anchors(session, [columns(draw(), played.rows) for _ in range(MANY)], form, track, played)
    return session


def _setting(buffer: Any, what: str, otherwise: float) -> float:
    known = {plain(name) for name in MAKE[what].split()}
    held = getattr(buffer, "__dict__", {})
    found = [each for key, each in held.items() if plain(key) in known and type(each) in (int, float)]
    return float(found[0]) if found else otherwise


def _beta(buffer: Any, played: Played) -> float | None:
    """The β it was told, where it stays the same from call to call."""
    if any(value.startswith("beta =") for value in played.mapping.values()):
        return BETA
    if hasattr(buffer, "__dict__"):
        held = [
            v for k, v in vars(buffer).items() if plain(k) in ("beta", "per_beta", "prob_beta") and isinstance(v, float)
        ]
        if held and held[0] == BETA:
            return BETA
    return None


def _indices(seen: list[Columns], form: Form, scene: Scene, played: Played, report: Report) -> dict[int, int] | None:
    """Of each step, the index that update takes for it."""
    found = stacked(seen)
    reading = read(found, form)
    rows = hold(reading, scene.track, scene.name, played.takes)
    hints = [path for path in found if named(path) == "index"]
    others = [path for path in found if named(path) is None and path not in reading.where.values()]
    best: dict[int, set[int]] = {}
    for path in [*hints, *others]:
        values = found[path]
        if values.shape[1] != 1 or not np.all(values == np.round(values)):
            continue
        held: dict[int, set[int]] = {}
        for row, step in rows.known:
            held.setdefault(step.number, set()).add(int(values[row, 0]))
        if all(len(each) == 1 for each in held.values()) and len({min(each) for each in held.values()}) == len(held):
            report.mapping[f"returned {path}"] = "the index that priorities are set by"
            return {number: min(each) for number, each in held.items()}
        if path in hints or len(set(values[:, 0].tolist())) > 2:
            best = best or held
    if best:
        number = next(each for each, values_ in best.items())
        seen_ = f"step {rows.track.all[number - 1]} came with the indices {sorted(best[number])[:6]}"
        report.add(
            "index-not-of-row", f"{seen_}, on {scene.name}", "the same index each time, another one for each row"
        )
        return None
    raise Stuck(
        "no field of its samples is the index of a row; expected sample() to return indices for "
        "update_priorities(indices, priorities)"
    )


def _update(buffer: Any, given: Given, index: list[int], errors: list[float], style: str, report: Report) -> None:
    name, update = needed(buffer, "update", given, "update_priorities(self, indices, priorities)")
    asked = [
        each for each, p in parameters(update).items() if p.kind in _KINDS and p.default is inspect.Parameter.empty
    ]
    if len(asked) < 2:
        raise Stuck(f"{name}() takes {', '.join(asked)}; expected update_priorities(indices, priorities)")
    roles = [given.get(each) or role(each, READ) for each in asked[:2]]
    swapped = roles[0] in ("priority", "weight") and roles[1] not in ("priority", "weight")
    pair = (asked[1], asked[0]) if swapped else (asked[0], asked[1])
    report.mapping |= {f"{name}({pair[0]})": "indices of rows", f"{name}({pair[1]})": "their |TD error|"}

    def put(where: Any, what: Any) -> None:
        update(**{pair[0]: where, pair[1]: what})

    if style == "one by one":
        for where, what in zip(index, errors, strict=True):
            put(where, what)
    elif style == "list":
        put(list(index), list(errors))
    elif style == "torch":
        import torch

        put(torch.tensor(index), torch.tensor(errors))
    else:
        put(np.array(index), np.array(errors))


def _anchors(session: Session, calls: list[Columns], form: Form, track: Any, played: Played) -> None:
    found = stacked(calls)
    parts, which = distinct({path: values for path, values in found.items() if named(path) != "weight"})
    reading = read(parts, form)
    rows = hold(reading, track, session.scene.name, played.takes)
    numbers = [0 if step is None else step.number for step in rows.anchor]
    every = [numbers[each] for each in which]
    session.calls = [every[k : k + played.rows] for k in range(0, len(every), played.rows)]
    path = next((each for each in found if named(each) == "weight" and found[each].shape[1] == 1), None)
    if path is None:
        used = {*reading.where.values(), *reading.flags}
        for each, values in found.items():
            floats = values.shape[1] == 1 and not np.all(values == np.round(values))
            if each not in used and named(each) is None and floats and np.all(values > 0):
                path = each
    if path is None:  # weights of 1 look like flags
        ones = [each for each in found if each in reading.flags and np.all(found[each] == 1)]
        path = ones[-1] if ones else None
    if path is not None:
        column = found[path][:, 0].astype(float)
        session.weights = [column[k : k + played.rows] for k in range(0, len(column), played.rows)]


def _shares_of(session: Session, numbers: list[int]) -> list[NDArray[Any]]:
    """How often each step came: over all rows, and over the first row of each call where none comes twice in one."""
    every = np.array([number for each in session.calls for number in each])
    shares = [np.array([np.mean(every == number) for number in numbers])]
    if all(len(set(each)) == len(each) for each in session.calls):
        first = np.array([each[0] for each in session.calls])
        shares.append(np.array([np.mean(first == number) for number in numbers]))
    return shares


def _spread(errors: NDArray[Any], power: float) -> NDArray[Any]:
    raised = errors**power
    return np.asarray(raised / raised.sum())


def _shares(session: Session, report: Report) -> None:
    numbers = sorted(session.error)
    errors = np.array([session.error[number] for number in numbers])
    alpha = session.alpha
    ways = {
        "not-by-priority": np.full(len(numbers), 1 / len(numbers)),
        "alpha-missing": _spread(errors, 1.0),
        "alpha-twice": _spread(errors, alpha**2),
        "priority-inverted": _spread(errors, -alpha),
        "update-wrong-row": _spread(np.roll(errors, 1), alpha),
        "update-wrong-row ": _spread(np.roll(errors, -1), alpha),
        "update-wrong-row  ": _spread(errors[::-1], alpha),
        "last-row-never-sampled": _without(errors, alpha, -1),
        "first-row-never-sampled": _without(errors, alpha, 0),
    }
    right = _spread(errors, alpha)
    theirs = _shares_of(session, numbers)
    if any(np.max(np.abs(each - right)) < NEAR and _nearest(each, right, ways) for each in theirs):
        return
    lines = [
        (str(session.steps[n]), f"{e:g}", f"{t:.3f}", f"{r:.3f}")
        for n, e, t, r in zip(numbers, errors, theirs[0], right, strict=True)
    ]
    wrong = [k for k in range(len(numbers)) if abs(theirs[0][k] - right[k]) > 0.02]
    shown = table(
        session.scene.name,
        f"α = {alpha:g}, {MANY} samples; steps are {HOW}",
        ("step", "|TD error|", "share, yours", "share, right"),
        lines,
        wrong,
    )
    at = int(np.argmax(np.abs(theirs[0] - right)))
    seen = f"step {session.steps[numbers[at]]} in {theirs[0][at]:.1%} of the rows, on {session.scene.name}"
    for name, way in ways.items():
        if any(np.max(np.abs(each - way)) < 0.025 for each in theirs):
            report.add(name.strip(), seen, f"{right[at]:.1%}", shown)
            return
    report.add("", seen, f"{right[at]:.1%}", shown)


def _without(errors: NDArray[Any], alpha: float, row: int) -> NDArray[Any]:
    raised = errors**alpha
    raised[row] = 0.0
    return np.asarray(raised / raised.sum())


def _nearest(theirs: NDArray[Any], right: NDArray[Any], ways: Mapping[str, NDArray[Any]]) -> bool:
    own = float(np.sum((theirs - right) ** 2))
    return all(own < float(np.sum((theirs - way) ** 2)) for way in ways.values())


def _newest(session: Session, report: Report) -> None:
    """The row that was added last should be as likely as the likeliest."""
    newest = max(session.steps)
    numbers = [*sorted(session.error), newest]
    known = np.array([session.error[number] for number in numbers[:-1]])
    whole = _spread(np.append(known, known.max()), session.alpha)
    ever = _spread(np.append(known, float(ERRORS.max()) * SCALE), session.alpha)  # that of a row which is gone by now
    clipped = _spread(np.append(np.minimum(known, 1.0), 1.0), session.alpha)  # some let errors count for 1 at most
    theirs = _shares_of(session, numbers)
    if any(np.max(np.abs(each - right)) < NEAR for each in theirs for right in (whole, ever, clipped)):
        return
    share, right = theirs[0][-1], whole[-1]
    highest = float(known.max())
    seen = (
        f"the new row in {share:.1%} of the rows, where the highest |TD error| is {highest:g}, on {session.scene.name}"
    )
    report.add("new-items-not-highest" if share < right - NEAR else "", seen, f"{right:.1%}")
