"""A replay buffer under audit: partly filled, full, and gone round; one environment and two."""

from __future__ import annotations

import inspect
from collections import deque
from typing import Any

import numpy as np

from rldebug.oracles.audit.coding import MOST, Form, Given, Report
from rldebug.oracles.audit.drive import Played, Scene, has_envs, play
from rldebug.oracles.audit.make import construct, fields, needed, parameters, plans
from rldebug.oracles.audit.names import ADD, MAKE, role, words
from rldebug.oracles.audit.read import Columns, array_of, columns, distinct, read, stacked
from rldebug.oracles.audit.ring import check_draws, check_ring
from rldebug.oracles.audit.rows import Rows, check, hold
from rldebug.oracles.call import Raised, call
from rldebug.oracles.names import plain

TIMES = 70  # samples of 4 rows: a row of 8 is left out of all of them less than once in 10^15
SIDE_BY_SIDE = (
    Scene("2 environments, 3 steps of each in room for 8 transitions", 3, envs=2),
    Scene("2 environments, 7 steps of each in room for 8 transitions", 7, envs=2),
)


def scenes(capacity: int) -> tuple[Scene, ...]:
    """Partly filled, just full, gone round once, and more than once."""
    lengths = (max(5, capacity * 5 // 8), capacity, capacity * 3 // 2, min(MOST, capacity * 2 + 5))
    return tuple(Scene(f"{length} transitions in room for {capacity}", length, capacity) for length in lengths)


def audit(target: Any, form: Form, at: int, given: Given) -> Report:
    report = Report(convention=form.said())
    capacity = _capacity(target, given)
    bounded = capacity is not None
    room = capacity or 8
    for number, scene in enumerate(scenes(room) + (SIDE_BY_SIDE if form.batched and has_envs(target, given) else ())):
        if number > 1 and not bounded and scene.envs == 1:
            report.note("how much it holds is not known, or too much: what happens when it is full was not looked at")
            continue
        played = play(target, scene, form, given, times=TIMES * max(scene.envs, room // 6), at=at)
        if not report.mapping:
            report.mapping = played.mapping
        if played.raised:
            if _cannot(report, played, scene, first=number == 0):
                return report
            continue
        found, which = distinct(stacked(played.calls))
        rows = rows_of(found, played, scene, form, report)
        if rows is None:
            return report
        report.scenes += 1
        check(rows, report)
        if number == 0:
            _masks(played, scene, report)
        if check_draws(rows, played, which, report) and bounded:
            check_ring(rows, scene, report)
    _prune(report)
    if form.pixels and len(form.shape) == 1:
        report.note("observations are kept as whole numbers: right for pictures, and for nothing else")
    if not report.faults:
        _aliasing(target, form, at, given, report)
    return report


def rows_of(found: Columns, played: Played, scene: Scene, form: Form, report: Report) -> Rows | None:
    reading = read(found, form)
    if reading.obs is None and reading.next_obs is None:
        report.stuck = (
            "what it returns is not understood: expected a tuple, dict, named tuple or list of transitions in which "
            f"{played.rows} observations can be found"
        )
        return None
    keep = scene.capacity // scene.envs
    report.mapping |= {f"returned {path}": f"{what}, by its content" for what, path in reading.where.items()}
    report.mapping |= {f"returned {path}": "whether the episode ended" for path in reading.flags}
    return hold(reading, scene.track, scene.name, played.takes, max(0, scene.length - keep))


def _cannot(report: Report, played: Played, scene: Scene, *, first: bool) -> bool:
    if first:
        report.stuck = f"{played.phase} raised {played.raised}, on {scene.name}"
        return True
    if played.phase == "add":
        report.add("breaks-when-full", f"add raised {played.raised}, on {scene.name}", "the oldest to be overwritten")
    else:
        report.add("", f"{played.phase} raised {played.raised}, on {scene.name}", "a sample")
    return False


def _capacity(target: Any, given: Given) -> int | None:
    """How many transitions there is room for: as many as its constructor is told, or as an object has."""
    if inspect.isclass(target) or inspect.isroutine(target):
        owner = target if inspect.isclass(target) else None
        asked = {given.get(name) or role(name, MAKE) for name in parameters(target, owner)}
        return 8 if asked & {"capacity", "storage"} else None
    names = words(MAKE["capacity"]) - {"n", "size", "length", "limit"}
    held = vars(target) if hasattr(target, "__dict__") else {}
    found = [each for name, each in held.items() if plain(name) in names and type(each) is int]
    found += [each.maxlen for each in held.values() if isinstance(each, deque) and each.maxlen is not None]
    return found[0] if found and 6 <= found[0] <= 32 else None


def _masks(played: Played, scene: Scene, report: Report) -> None:
    """An array of its own that is called not_done, and holds done."""
    done = [float(step.done) for step in scene.track.all]
    for name, held in getattr(played.buffer, "__dict__", {}).items():
        array = array_of(held) if role(name, ADD) == "not_done" else None
        if array is not None and array.size >= len(done) and array.ravel()[: len(done)].astype(float).tolist() == done:
            report.add("done-inverted", f"{name} is 1 where the episode ends, on {scene.name}", "1 where it goes on")


def _prune(report: Report) -> None:
    names = {fault.name for fault in report.faults}
    follows = {
        "wraps-early": {"unfilled-rows", ""},
        "sampled-below-write-position": {"", "wraps-early", "always-the-same-rows"},
        "breaks-when-full": {"", "wraps-early"},
        "fields-drawn-apart": {f"{each}-shifted" for each in ("obs", "action", "reward", "done", "next-obs")}
        | {"", "envs-mixed"},
        "rows-share-one-array": {"next-obs-is-obs", "", "unfilled-rows", "next-obs-shifted"},
        "next-obs-of-next-episode": {"next-obs-over-write-position"},
        "next-obs-is-obs": {"next-obs-over-write-position"},
        "next-obs-shifted": {"next-obs-over-write-position", "next-obs-of-next-episode"},
        "one-row-for-the-batch": {"always-the-same-rows"},
        "unfilled-rows": {""},
    }
    dropped = {each for name in names for each in follows.get(name, ())}
    report.faults = [fault for fault in report.faults if fault.name not in dropped]


def _aliasing(target: Any, form: Form, at: int, given: Given, report: Report) -> None:
    """Arrays that are changed after they were added: whether the buffer's rows change with them."""
    scene = scenes(8)[0]

    def run() -> tuple[bool, bool]:
        from rldebug.oracles.audit.drive import rows_for, sampler, wants

        buffer, _ = construct(target, wants(scene, form), form, given)
        name, add = needed(buffer, "add", given, "add(…)")
        plan = plans(buffer, name, add, given)[at]
        before, changed, handed = None, False, []
        for row in scene.track.steps:
            values = fields(row, form, before)
            handed.append(values["obs"])
            kept = np.array(values["obs"], copy=True)
            args, named = plan.build(values)
            add(*args, **named)
            changed = changed or not np.array_equal(np.asarray(values["obs"]), kept)
            before = row
        draw = sampler(buffer, form, given, Played())
        where = read(stacked([columns(draw(), rows_for(form)) for _ in range(5)]), form).where.get("obs")
        for array in handed:
            array[...] = 0
        later = stacked([columns(draw(), rows_for(form)) for _ in range(5)])
        return changed, where in later and not later[where].any(axis=1).all()

    outcome = call(run, (), {}, seconds=5.0)
    if isinstance(outcome, Raised):
        return
    if outcome[0]:
        report.add("changes-its-input", "the observation handed to add was changed by it", "its arguments as they were")
    elif outcome[1]:
        report.note(
            "it keeps the very arrays it is given: where the environment or a wrapper reuses its array, rows change "
            "afterwards; add a copy"
        )
