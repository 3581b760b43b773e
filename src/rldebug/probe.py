"""`rldebug probe`, and `rldebug.probe(make_agent)`: climb the ladder with an algorithm, and say what is broken."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from rldebug.config import Config
from rldebug.diagnose import diagnose
from rldebug.evidence.ladder import Ladder, Rung
from rldebug.finding import Report
from rldebug.probe_target import Known, resolve, try_out
from rldebug.probes.agent import Target
from rldebug.probes.envs.discount_chain import DiscountChain
from rldebug.probes.judge import Budget, tolerance
from rldebug.probes.ladder import assemble, blank, stand
from rldebug.probes.measure import size_of
from rldebug.probes.probe import Array, Probe
from rldebug.probes.shelf import find
from rldebug.probes.shelf import probes as every_probe
from rldebug.script_target import Script
from rldebug.side_by_side import STOPPED, run_all
from rldebug.target import TargetError

GAMMA = 0.99  # where nobody says, and no values tell
UNSURE = 0.005  # how far a γ that was read off values may be from the one in use

Progress = Callable[[Rung], Any]


def probe(
    target: str | Callable[..., Any] | Target,
    *,
    gamma: float | None = None,
    probes: Iterable[str] | None = None,
    whole: bool = False,
    settings: Mapping[str, Any] | None = None,
    defaults: bool = False,
    abilities: Iterable[str] = (),
    seeds: int = 5,
    steps: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
    jobs: int = 1,
    config: Config | None = None,
    progress: Progress | None = None,
) -> Report:
    """Train an algorithm on tiny environments with known answers, and say what is broken in it.

    target       a function `make_agent(make_env)`, or `algo:ppo`, `sb3:PPO`, `module:make_agent`, `file.py:make_agent`
    gamma        the discount it uses, where it does not say so itself
    probes       names of rungs; all that apply unless given
    whole        also the rungs that stand on a failed one
    settings     over those suited to probes; a function is called with them
    defaults     the target's own settings, instead of those suited to probes
    abilities    what it can do besides: normaliser, frames, memory, masks, vector
    seeds        at most so many for a rung: one that passes is enough, one that fails is not
    steps        of the environment, and `seconds`: at most, for one seed on one rung
    jobs         rungs side by side, each in a process of its own
    progress     called with every rung that is decided

    Raises TargetError where the target cannot be made, or answers with what nobody can read.
    """
    ladder = climb_ladder(
        target,
        gamma=gamma,
        probes=probes,
        whole=whole,
        settings=settings,
        defaults=defaults,
        abilities=abilities,
        seeds=seeds,
        steps=steps,
        seconds=seconds,
        seed=seed,
        jobs=jobs,
        progress=progress,
    )
    return report_on(ladder, config)


def climb_ladder(
    target: str | Callable[..., Any] | Target,
    *,
    gamma: float | None = None,
    probes: Iterable[str] | None = None,
    whole: bool = False,
    settings: Mapping[str, Any] | None = None,
    defaults: bool = False,
    abilities: Iterable[str] = (),
    seeds: int = 5,
    steps: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Ladder:
    """What `probe` draws its conclusions from. Ctrl-C ends the climb; what was decided by then is there."""
    kinds = choose(probes)
    budget = _budget(seeds, steps, seconds, seed)
    if gamma is not None and not 0.0 <= gamma <= 1.0:
        raise TargetError(f"gamma is {gamma:g}, expected a share between 0 and 1")
    if jobs < 1:
        raise TargetError(f"jobs is {jobs}, expected at least 1")
    found = resolve(target, settings=settings, abilities=abilities, defaults=defaults)
    began = time.perf_counter()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # networks of thirty units are fastest so
    try:
        known = try_out(
            found, kinds
        )  # before processes are forked: what is loaded or compiled here, none of them has to
        declared = dict(known.declared) if gamma is None else {**known.declared, "gamma": float(gamma)}
        rungs = _climb(known, kinds, declared, budget, whole, jobs, progress or (lambda _: None))
    finally:
        torch.set_num_threads(threads)
    return assemble(found.name, rungs, declared, time.perf_counter() - began)


def choose(names: Iterable[str] | None) -> tuple[type[Probe], ...]:
    """The rungs of these names, from the lowest up; all where none is named."""
    if names is None:
        return every_probe()
    wanted = [find(each) for each in ([names] if isinstance(names, str) else names)]
    if not wanted:
        raise TargetError("no probe was named: expected at least one")
    return tuple(each for each in every_probe() if each in wanted)


def report_on(ladder: Ladder, config: Config | None = None) -> Report:
    """What the rules say about a climb. Exit status 1 where a rung failed, even if no rule could say why."""
    report = diagnose([ladder], config=config, command="probe", title=ladder.target)
    trouble = any(each.outcome in ("failed", "crashed") for each in ladder.rungs)
    return dataclasses.replace(report, program=program(ladder), exit=0 if report.clean and not trouble else 1)


def stopped(ladder: Ladder) -> bool:
    """Whether Ctrl-C ended the climb."""
    return any(each.reason == STOPPED for each in ladder.rungs)


# ── the climb ──


def _climb(
    known: Known,
    kinds: Sequence[type[Probe]],
    declared: Mapping[str, Any],
    budget: Budget,
    whole: bool,
    jobs: int,
    progress: Progress,
) -> list[Rung]:
    unsure = "gamma" not in declared
    used = dict(declared)
    if unsure:
        try:
            used["gamma"] = read_off(known, kinds, declared, budget) if known.tells_values else GAMMA
        except KeyboardInterrupt:
            return [blank(kind, "not run", STOPPED) for kind in kinds]

    seen_from_outside = known.target.make if isinstance(known.target.make, Script) else None

    def left_out(kind: type[Probe]) -> Rung | None:
        why = None if seen_from_outside is None else seen_from_outside.leave_out(kind)
        if why is not None:
            return blank(kind, "not applicable", why)
        if kind.asks == "value" and not known.tells_values:
            return blank(kind, "not applicable", "values are not seen: it shows no value(obs) and no q(obs)")
        if unsure and hangs_on_gamma(kind, used["gamma"], used):
            told = f"γ is not declared, and {used['gamma']:.3g} is not known well enough for this: say gamma"
            return blank(kind, "not applicable", told)
        return None

    def run(kind: type[Probe]) -> Rung:
        rung = stand(known.target, kind, declared=used, action=known.action, budget=budget)
        return rung if seen_from_outside is None else seen_from_outside.review(rung)

    return run_all(kinds, run, left_out=left_out, whole=whole, jobs=jobs, progress=progress)


def read_off(known: Known, kinds: Sequence[type[Probe]], declared: Mapping[str, Any], budget: Budget) -> float:
    """The γ that the target's values tell, where it does not say which it uses."""
    if not any(kind.asks == "value" and hangs_on_gamma(kind, 0.95, declared, unsure=0.04) for kind in kinds):
        return GAMMA
    rung = stand(known.target, DiscountChain, declared={**declared, "gamma": GAMMA}, action=known.action, budget=budget)
    tables = [each.value for each in rung.attempts if each.value is not None]
    if not tables:
        return GAMMA
    value = np.asarray(np.mean(tables, axis=0))
    told = DiscountChain().effective_gamma(value)
    if math.isnan(told) or told > 1.0 + UNSURE:
        return GAMMA
    told = min(told, 1.0)
    fits = (
        np.abs(value - DiscountChain(told).solve().value).max() < 0.1
    )  # else these are not the values of any discount
    return round(told, 3) if fits else GAMMA


def hangs_on_gamma(kind: type[Probe], gamma: float, declared: Mapping[str, Any], unsure: float = UNSURE) -> bool:
    """Whether the right answer would be another one, if γ were a little more or less than believed."""
    probe = kind(gamma)
    here = probe.solve()
    for other in (max(gamma - unsure, 0.0), min(gamma + unsure, 0.9999)):
        there = probe.solve(other)
        if kind.asks == "value":
            off = float(np.abs(there.value - here.value).max()) / size_of(probe, here.value)
            if off > 0.5 * tolerance(probe, {**declared, "gamma": gamma}):
                return True
        elif kind.asks == "policy" and (there.best != here.best).any():
            return True
    return False


def _budget(seeds: int, steps: int | None, seconds: float | None, seed: int) -> Budget:
    for name, given in (("seeds", seeds), ("steps", steps), ("seconds", seconds)):
        if given is not None and not given > 0:
            raise TargetError(f"{name} is {given:g}, expected more than 0")
    usual = Budget()
    return Budget(
        steps=usual.steps if steps is None else int(steps),
        seconds=usual.seconds if seconds is None else float(seconds),
        seeds=seeds,
        first_seed=seed,
    )


# ── as JSON ──


def program(ladder: Ladder) -> dict[str, Any]:
    """What the algorithm was found to compute, in plain types."""
    source = "declared" if "gamma" in ladder.declared else "the values" if ladder.gamma is not None else "assumed"
    return {
        "target": ladder.target,
        "gamma": _plain(ladder.gamma),
        "gamma_expected_from": source,
        "lam": _plain(ladder.lam),
        "declared": {name: _plain(each) for name, each in ladder.declared.items()},
        "rungs": [_rung(each) for each in ladder.rungs],
    }


def _rung(rung: Rung) -> dict[str, Any]:
    table = {"value": "value", "policy": "policy"}.get(rung.asks)
    learned: Array | float | None = None if table is None else rung.mean(table)
    right: Array | float | None = rung.right
    if rung.asks == "return":
        learned = None if rung.deciding is None else rung.deciding.returns
        right = None if rung.returns is None else rung.returns[1]
    return {
        "name": rung.name,
        "number": int(rung.number),
        "asks": rung.asks,
        "outcome": rung.outcome,
        "reason": rung.reason,
        "looks": list(rung.looks),
        "right": _plain(right),
        "learned": _plain(learned),
        "matched": list(rung.matched),
        "steps": sum(int(each.steps) for each in rung.attempts),
        "seconds": round(float(sum(each.seconds for each in rung.attempts)), 3),
    }


def _plain(thing: Any) -> Any:
    """For JSON, which knows neither arrays nor NaN."""
    if isinstance(thing, np.ndarray):
        return [_plain(each) for each in thing]
    if isinstance(thing, (float, np.floating)):
        return float(thing) if math.isfinite(thing) else None
    if isinstance(thing, np.integer):
        return int(thing)
    return thing
