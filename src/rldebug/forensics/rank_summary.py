"""What one rank did, as far as it is compared with others; and a script that knows of all of its ranks."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldebug.capture.children import FOLDER
from rldebug.evidence.crash import Crash, read_crash
from rldebug.evidence.ranks import Job, Member, job_of, last_collective
from rldebug.evidence.script import Script, read_script
from rldebug.finding import thousands
from rldebug.forensics.batches import calls_of

_MOST = 16  # ranks that are compared
_STEPS = 512
_SEEN = 256
_ROWS = 16  # that a line is laid through
_EXACT = 1e-3  # of the spread may be left over
_MOST_ROWS = 0.8  # of which that holds
Array = NDArray[np.float64]


def with_ranks(folder: Path, script: Script) -> tuple[Script, list[str], tuple[Crash, ...]]:
    """The script with a note for each process that trained beside it, what is to be said about those, and how others
    failed."""
    job = job_of(folder)
    if job is not None:
        return _of_job(job, folder, script)
    started = {int(each.name): each for each in (folder / FOLDER).glob("*") if each.name.isdigit()}
    if not started:
        return script, [], ()
    found = {number: read for number, each in sorted(started.items()) if (read := read_script(each)) is not None}
    known = {int(each.get("number", -1)): each for each in script.noted("child")}
    lines = [{**known.get(number, {}), **summary(number, each)} for number, each in found.items()]
    return _noting(script, lines), [], ()


def _of_job(job: Job, folder: Path, script: Script) -> tuple[Script, list[str], tuple[Crash, ...]]:
    problems, lines, crashes = [], [], []
    compared = list(job.members.values())[:_MOST]
    for each in compared:
        own = each.folder.name == folder.name
        read = script if own else read_script(each.folder)
        if read is not None:
            line = summary(each.rank, read)
            state = "lost" if each.lost else str(each.meta.get("state", ""))
            lines.append({**line, "rank": each.rank, "world": job.world, "state": state, "host": each.meta.get("host")})
        if not own:
            problems += list(_about(each, read))
            crash = read_crash(each.folder)
            crashes += [] if crash is None else [crash]
    if len(job.members) > _MOST:
        problems.append(f"of {len(job.members)} ranks the first {_MOST} are compared")
    if job.missing:
        which = ", ".join(map(str, job.missing[:8])) + (" …" if len(job.missing) > 8 else "")
        left = f"rank {which} of {job.world}" if len(job.missing) == 1 else f"ranks {which} of {job.world}"
        problems.append(f"{left} left no folder beside this one: what was done there is not in this report")
    told = ", ".join(str(each.rank) for each in compared)
    beside = f"{told} were compared" if "," in told else "there is no other to compare it with"
    problems.insert(0, f"one job of {job.world} ranks: this is of rank {_own(job, folder)}; {beside}")
    return _noting(script, lines), problems, tuple(crashes)


def _own(job: Job, folder: Path) -> int:
    return next(each.rank for each in job.members.values() if each.folder.name == folder.name)


def _about(member: Member, script: Script | None) -> Iterator[str]:
    who = f"rank {member.rank}"
    if script is None:
        yield f"{who} recorded nothing in {member.folder.name}"
        return
    updates = int(script.counts.get("updates", 0) or 0)
    if member.lost:
        yield f"{who} was killed, or its machine went down, after about {thousands(updates)} updates"
    elif member.running:
        yield f"{who} is still running, or its end was not recorded: what it did so far was compared"
    elif member.meta.get("error"):
        yield f"{who} failed: {member.meta['error']}"
    yield from (f"{who}: {each}" for each in script.problems[:2])


def _noting(script: Script, lines: list[dict[str, Any]]) -> Script:
    others = [each for each in script.notes if each.get("kind") != "child"]
    return dataclasses.replace(script, notes=[*others, *lines])


def summary(number: int, script: Script) -> dict[str, Any]:
    """What ranks have in common, update by update."""
    steps: dict[str, list[float | None]] = {}
    weights: dict[str, float] = {}
    seen: list[float] = []
    firsts: list[float] = []
    for audit in script.audits:
        for event in audit.events:
            if event.kind == "step" and len(steps) < _STEPS:
                steps[f"{event['optimizer']}@{event.update}"] = [event.get("grad_norm"), event.get("lr")]
            elif event.kind == "weights" and event.get("norm") is not None:
                weights[f"{event['module']}@{event.update}"] = float(event["norm"])
        acted = audit.nodes.acted
        if not seen and len(audit.nodes) >= 16:
            seen = [float(each) for each in audit.nodes.obs_stats[acted, 2][:_SEEN]]
            seen += [float(each) for each in audit.nodes.reward[acted][:_SEEN]]
        if not firsts:  # of the first audit: between audits each rank has episodes of its own
            begun = audit.nodes.obs_stats[acted & audit.nodes.first]
            # Mean and deviation in one number: fingerprints are those of one process.
            firsts += [float(each) for each in begun[:, 2] + np.pi * begun[:, 3]]
    own = script.things.get("rank", {}).get("own", {})
    return {
        "kind": "child", "number": number, "rank": own.get("rank"), "world": own.get("world"),
        "state": script.meta.get("state"),
        "updates": script.counts.get("updates", 0), "env_steps": script.counts.get("env_steps", 0),
        "seeds": [each.get("value") for each in script.noted("seed")][:8], "steps": steps, "weights": weights,
        "seen": seen, "firsts": firsts[:_SEEN], "inputs": _inputs(script), "sampled": _sampled(script),
        "phases": list(own.get("phases") or ()), "wrapped": bool(own.get("wrapped")),
        "before_updates": dict(own.get("before_updates") or {}), "calls": int(own.get("calls") or 0),
        "last": None if script.path is None else last_collective(script.path), "terms": _terms(script),
    }  # fmt: skip


def _sampled(script: Script) -> dict[str, Mapping[str, Any]]:
    return {f"{each.get('optimizer')}@{each.get('step')}": each for each in script.noted("rank_step")}


def _inputs(script: Script) -> dict[str, tuple[list[float], ...]]:
    """How observations enter the networks that act: slope, shift and spread of each element, by network and phase."""
    rows: dict[str, tuple[list[Array], list[Array]]] = {}
    for call in calls_of(script):
        nodes, places, given = call.audit.nodes, call.places, call.input
        if given is None or not call.event.get("acting") or call.event["match"] == "tag":
            continue
        if len(places) != len(given) or nodes.obs.shape[1] != given.shape[1]:
            continue
        for phase in np.unique(nodes.phase[places[places >= 0]]):
            here = (places >= 0) & (nodes.phase[places] == phase)
            obs, entered = rows.setdefault(f"{call.module}@{phase}", ([], []))
            obs.append(np.asarray(nodes.obs, dtype=np.float64)[places[here]])
            entered.append(np.asarray(given, dtype=np.float64)[here])
    found = {key: _line(np.concatenate(obs), np.concatenate(entered)) for key, (obs, entered) in rows.items()}
    return {key: tuple(each.tolist() for each in line) for key, line in found.items() if np.isfinite(line[0]).any()}


def _line(obs: Array, entered: Array) -> tuple[Array, Array, Array]:
    """Per element, from the rows in the middle: some may have entered after the statistics were updated."""
    keep = np.isfinite(obs).all(axis=1) & np.isfinite(entered).all(axis=1)
    obs, entered = obs[keep], entered[keep]
    width, half = obs.shape[1], len(obs) // 2
    slope, shift = np.full(width, np.nan), np.full(width, np.nan)
    spread = obs.std(axis=0) if len(obs) else np.zeros(width)
    for place in range(width) if len(obs) >= _ROWS else ():
        x, y = obs[:, place], entered[:, place]
        order = np.argsort(x)
        low, high = order[:half], order[half : 2 * half]
        apart = x[high] - x[low]
        if not (apart > 1e-6 * (1 + np.abs(x).max())).all():
            continue
        steep = float(np.median((y[high] - y[low]) / apart))
        moved = float(np.median(y - steep * x))
        off = np.abs(y - steep * x - moved)
        if np.mean(off <= _EXACT * y.std() + 1e-6 * (1 + np.abs(y).max())) >= _MOST_ROWS:
            slope[place], shift[place] = steep, moved
    return slope, shift, spread


def _terms(script: Script) -> list[tuple[str, str, float]]:
    """Kind, reduction and coefficient of the parts of losses."""
    told = {(str(e["kind"]), str(e.get("reduction")), round(float(e.get("coefficient") or 0.0), 6))
            for _, e in script.events("term")}  # fmt: skip
    return sorted(told)[:32]
