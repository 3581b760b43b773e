"""A Timing from a run folder: what was sampled, with the part of a training loop that each stack belongs to."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rldebug.evidence.source import Source, parsed, read_sources
from rldebug.evidence.timing import (
    FILE,
    Environment,
    Held,
    Host,
    Kept,
    Measured,
    Network,
    Slice,
    Spot,
    Sync,
    Timing,
    Window,
    as_plain,
)
from rldebug.evidence.timings.parts import with_parts
from rldebug.launch import as_typed

YARDSTICK = "yardstick.json"
_FORMAT = 1
_ENOUGH = 0.2  # of a window in the training


class TimingError(Exception):
    """A recording that cannot be read; the message says why."""


def read_timing(folder: Path, sources: Sequence[Source] | None = None) -> Timing | None:
    """None where no time was taken."""
    file = folder / FILE
    if not file.exists():
        return None
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise TimingError(f"{file} cannot be read: {error}") from error
    if not isinstance(told, dict) or told.get("format") != _FORMAT:
        raise TimingError(f"{file} has format {told.get('format') if isinstance(told, dict) else None!r}, expected 1")
    try:
        known = read_sources(folder) if sources is None else sources
        timing = _timing(told, tuple(parsed(each.text, as_typed(each.file)) for each in known))
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise TimingError(f"{file} is damaged: {type(error).__name__}: {error}") from error
    return dataclasses.replace(timing, yardstick=_yardstick(folder))


def write_yardstick(folder: Path, measured: Mapping[str, Measured]) -> None:
    """So that a report that is made later says the same."""
    (folder / YARDSTICK).write_text(json.dumps(as_plain(measured)), encoding="utf-8")


def _yardstick(folder: Path) -> Mapping[str, Measured]:
    try:
        told = json.loads((folder / YARDSTICK).read_text(encoding="utf-8"))
        return {name: Measured(**each) for name, each in told.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _timing(told: Mapping[str, Any], sources: tuple[Source, ...]) -> Timing:
    spots = _spots(told)
    stacks = [tuple(spots[place] for place in each["spots"]) for each in told["stacks"]]
    ours = [bool(each["ours"]) for each in told["stacks"]]
    training = _training_thread(told["threads"])
    start = sum(cell[6] for cell in told["threads"][training]["cells"] if cell[1] == "start")
    own = float(told["own"])
    slices: list[Slice] = []
    numbers: dict[int, int] = {}  # place of a cell of the training thread -> place of its slice
    for name, thread in told["threads"].items():
        number = 0 if name == training else int(name) or len(told["threads"])
        for place, cell in enumerate(thread["cells"]):
            stack, before, after, env, grad, span, seconds, samples = cell
            if before == "start" and name == training:
                continue
            if ours[stack]:
                own += seconds if number == 0 else 0.0
                continue
            if number == 0 and name == "0":
                numbers[place] = len(slices)
            inside, rows = bool(told["stacks"][stack]["inside"]), int(told["stacks"][stack].get("rows", 0))
            slices.append(
                Slice(seconds, int(samples), stacks[stack], before, after, env, grad, inside, span, number, rows=rows)
            )
    slices = _to_scale(slices, max(told["end"] - told["first"] - own, 1e-9))
    environments = _environments(told["environments"])
    slices = with_parts(slices, environments, sources)
    return Timing(
        seconds=sum(each.seconds for each in slices if each.thread == 0) or told["end"] - told["first"],
        start_up=max(float(told["first"]), start),
        own=own,
        interval=float(told["interval"]),
        env_steps=int(told["env_steps"]),
        updates=int(told["updates"]),
        phases=int(told["phases"]),
        slices=tuple(slices),
        windows=tuple(_window(each, numbers, slices, told["first"]) for each in told["windows"] if _counts(each, told)),
        environments=environments,
        networks=_networks(told.get("networks", ()), slices),
        host=_host(told.get("host", {})),
        syncs=tuple(Sync(**{**each, "spot": _spot(each["spot"])}) for each in told.get("syncs", ())),
        kernels=told.get("kernels", {}),
        held=tuple(
            Held(
                **{
                    **each,
                    "at": tuple(when - told["first"] for when in each["at"]),  # as windows are counted
                    "items": tuple(each["items"]),
                    "bytes": tuple(each["bytes"]),
                }
            )
            for each in told.get("held", ())
        ),
        kept=tuple(Kept(**{**each, "spot": _spot(each["spot"])}) for each in told.get("kept", ())),
        moments=_moments(told, slices),
        happened=tuple((float(when), str(what)) for when, what in told["happened"]),
        sources=sources,
        problems=_problems(told),
    )


def _spots(told: Mapping[str, Any]) -> list[Spot]:
    found = [Spot(*each) for each in told["spots"]]
    return [dataclasses.replace(each, file=as_typed(each.file)) if each.kind == "user" else each for each in found]


def _spot(told: Mapping[str, Any]) -> Spot:
    return Spot(**{**told, "file": as_typed(str(told["file"]))})


def _training_thread(threads: Mapping[str, Any]) -> str:
    """The main one, unless nearly all that happens happens in another."""
    busiest = max(threads, key=lambda name: threads[name]["events"])
    return "0" if 10 * threads["0"]["events"] >= threads[busiest]["events"] else busiest


def _to_scale(slices: list[Slice], seconds: float) -> list[Slice]:
    """A sample stands for a mean pause: they add up to the wall clock up to chance. Here, exactly."""
    seen = sum(each.seconds for each in slices if each.thread == 0)
    factor = seconds / seen if seen > 0 else 1.0
    if not 0.5 < factor < 2.0:
        return slices  # too few samples to say
    return [dataclasses.replace(each, seconds=each.seconds * factor) for each in slices]


def _environments(told: Sequence[Mapping[str, Any]]) -> tuple[Environment, ...]:
    known = {each.name for each in dataclasses.fields(Environment)}
    found = []
    for each in told:
        created = (as_typed(each["created"][0]), each["created"][1]) if each.get("created") else None
        rest = {key: value for key, value in each.items() if key in known and key != "created"}
        found.append(Environment(**rest, created=created, evaluation=_tries(each, told)))
    return tuple(found)


def _tries(each: Mapping[str, Any], told: Sequence[Mapping[str, Any]]) -> bool:
    """Nothing is learned from one that came after the first update, while one from before it goes on; nor from one that
    takes its turn now and then, and never an update comes before another takes over."""
    if each["first_update"] > 0:
        first = [one for one in told if not one["first_update"] and one["steps"]]
        return any(one.get("last", 0.0) > each.get("first", 0.0) for one in first)
    turns = each.get("turns", 0)
    followed = sum(
        one.get("followed", 0) for one in told
    )  # where it is as often, one cannot tell which is learned from
    return turns > 1 and not each.get("followed", 0) and followed >= 2 * turns


def _networks(told: Sequence[Mapping[str, Any]], slices: Sequence[Slice]) -> tuple[Network, ...]:
    acting, training = (_rows(slices, part) for part in ("acting", "loss"))
    return tuple(
        Network(
            **{**each, "shapes": tuple(tuple(shape) for shape in each["shapes"])},
            acting_rows=acting,
            training_rows=training,
        )
        for each in told
    )


def _rows(slices: Sequence[Slice], part: str) -> int:
    """Of the input of networks in a part: those that most of its time goes into."""
    seconds: dict[int, float] = {}
    for each in slices:
        if each.part == part and each.rows:
            seconds[each.rows] = seconds.get(each.rows, 0.0) + each.seconds
    return max(seconds, key=lambda rows: seconds[rows]) if seconds else 0


def _host(told: Mapping[str, Any]) -> Host:
    known = {each.name for each in dataclasses.fields(Host)}
    given: dict[str, Any] = {key: value for key, value in told.items() if key in known}
    return Host(**{**given, "late": tuple(given.get("late", ()))})


def _counts(window: Mapping[str, Any], told: Mapping[str, Any]) -> bool:
    """Whether it lies in the training, not before, or only its last moment does."""
    trained = window["began"] + window["seconds"] - told["first"]
    return bool(window["seconds"] > 0 and trained > _ENOUGH * window["seconds"])


def _window(told: Mapping[str, Any], numbers: Mapping[int, int], slices: Sequence[Slice], first: float) -> Window:
    parts: dict[str, float] = {}
    for cell, seconds in told["cells"]:
        if cell in numbers:
            part = slices[numbers[cell]].part
            parts[part] = parts.get(part, 0.0) + seconds
    known = {each.name for each in dataclasses.fields(Window)}
    rest = {key: value for key, value in told.items() if key in known and value is not None}
    early = max(first - told["began"], 0.0)  # of it lies before the training
    began, seconds = told["began"] + early - first, told["seconds"] - early
    return Window(**{**rest, "parts": parts, "began": began, "seconds": seconds})


def _moments(told: Mapping[str, Any], slices: Sequence[Slice]) -> tuple[tuple[float, float, int], ...]:
    spots = _spots(told)
    best: dict[tuple[tuple[Spot, ...], str], int] = {}
    for place, each in enumerate(slices):
        key = (each.stack, each.before)
        if each.thread == 0 and (key not in best or slices[best[key]].seconds < each.seconds):
            best[key] = place
    found = []
    for when, seconds, stack, before in told["moments"]:
        key = (tuple(spots[place] for place in told["stacks"][stack]["spots"]), before)
        if key in best:
            found.append((float(when), float(seconds), best[key]))
    return tuple(found)


def _problems(told: Mapping[str, Any]) -> tuple[str, ...]:
    found = []
    if told.get("way") == "thread":
        found.append("this system has no timers for threads: a thread sampled instead, which favours what waits")
    found += [f"{name} failed: {error.strip().splitlines()[-1]}" for name, error in told.get("broken", {}).items()]
    return tuple(found)
