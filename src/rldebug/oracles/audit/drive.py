"""A user's buffer, driven: made for a scene, fed with its track, sampled often."""

from __future__ import annotations

import contextlib
import functools
import inspect
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rldebug.evidence.verification import Verification
from rldebug.oracles.audit.coding import Form, Given, Report, Track, best
from rldebug.oracles.audit.make import _KINDS, Stuck, construct, fields, method, needed, parameters, plans
from rldebug.oracles.audit.names import MAKE, role
from rldebug.oracles.audit.objects import Plan
from rldebug.oracles.audit.read import Columns, columns
from rldebug.oracles.call import Raised, call, in_words

GAMMA = 0.5
ALPHA, BETA = 0.6, 0.4
_COUNT = "n k num num_samples n_samples size sample_size num_transitions count n_transitions length amount"
_SECONDS = 10.0


@dataclass(frozen=True)
class Scene:
    """What is played into a buffer, before it is read."""

    name: str
    length: int
    capacity: int = 8
    envs: int = 1
    endings: bool = True
    n_step: int = 1
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def track(self) -> Track:
        return Track(self.envs, self.length, self.endings)


@dataclass
class Played:
    """What came of a scene. `phase` is where it raised: make, add, sample."""

    calls: list[Columns] = field(default_factory=list)
    rows: int = 0
    takes: tuple[str, ...] = ()
    mapping: dict[str, str] = field(default_factory=dict)
    raised: str = ""
    phase: str = "make"
    added: int = 0
    buffer: Any = None
    batch: Callable[[], Any] | None = None  # one more sample


def rows_for(form: Form) -> int:
    """How many rows are asked for: no size of an observation, so that rows cannot be taken for columns."""
    return 5 if 4 in form.shape else 4


def wants(scene: Scene, form: Form) -> dict[str, Any]:
    return {
        "capacity": scene.capacity,
        "envs": scene.envs,
        "batch": rows_for(form),
        "gamma": GAMMA,
        "lam": 0.5,
        "alpha": ALPHA,
        "beta": BETA,
        "beta_end": BETA,
        "beta_step": 0.0,
        "eps": 1e-6,
        "n_step": scene.n_step,
    } | dict(scene.more)


def feed(buffer: Any, scene: Scene, form: Form, plan: Plan, add: Callable[..., Any], played: Played) -> None:
    played.phase = "add"
    before: list[Any] | None = None
    for row in scene.track.steps:
        values = fields(row, form, before)
        if scene.n_step > 1 and not {"done", "truncated", "not_done", "infos"} & set(plan.takes):
            values["terminated"] = values["done"]  # it has no other way to learn where an episode was cut off
        args, named = plan.build(values)
        add(*args, **named)
        before = row
        played.added += 1


def sampler(buffer: Any, form: Form, given: Given, played: Played) -> Callable[[], Any]:
    """A call of `sample` with the arguments it takes."""
    name, sample = needed(buffer, "sample", given, "sample(self, batch_size)")
    asked = {each: p for each, p in parameters(sample).items() if p.kind in _KINDS}
    counts = {"batch": f"{MAKE['batch']} {_COUNT}", "beta": MAKE["beta"], "device": MAKE["device"]}
    values: dict[str, Any] = {}
    for number, (each, parameter) in enumerate(asked.items()):
        what = given.get(each) or role(each, counts)
        if what is None and number == 0 and parameter.default is parameter.empty:
            what = "batch"
        value = {"batch": rows_for(form), "beta": BETA, "device": "cpu"}.get(what or "")
        if value is not None:
            values[each] = value
            played.mapping[f"{name}({each})"] = f"{what} = {value}"
        elif parameter.default is parameter.empty:
            raise Stuck(f"{name}() takes {each}, which is not understood; expected sample(batch_size)")

    def draw() -> Any:
        result = sample(**values)
        return next(result) if inspect.isgenerator(result) else result

    return draw


def play(
    target: Any, scene: Scene, form: Form, given: Given, *, times: int, at: int = 0, order: tuple[str, ...] = ()
) -> Played:
    """Make, feed and sample; `at` is the number of the plan for add. Raises Stuck where it cannot be driven at all."""
    played = Played(rows=rows_for(form))

    def run() -> None:
        buffer, played.mapping = construct(target, wants(scene, form), form, given, order)
        name, add = needed(buffer, "add", given, "add(self, obs, action, reward, next_obs, done)")
        ways = plans(buffer, name, add, given)
        if at >= len(ways):
            raise Stuck("")
        plan = ways[at]
        played.takes, played.buffer = plan.takes, buffer
        played.mapping |= plan.mapping
        feed(buffer, scene, form, plan, add, played)
        played.phase = "sample"
        draw = sampler(buffer, form, given, played)
        played.batch = draw
        for _ in range(times):
            played.calls.append(columns(draw(), played.rows))

    outcome = call(run, (), {}, seconds=_SECONDS)
    if isinstance(outcome, Raised):
        if isinstance(outcome.error, Stuck):
            raise outcome.error
        played.raised = outcome.said
    return played


def first_forms(target: Any, given: Given, order: tuple[str, ...] = ()) -> list[Form]:
    """How it may want its steps, likeliest first."""
    owner = target if inspect.isclass(target) else None
    names = parameters(target, owner) if owner is not None or inspect.isroutine(target) else {}
    asked = {name: given.get(name) or role(name, MAKE, order) for name in names}
    roles = set(asked.values())
    axes = [True, False] if "envs" in roles else [False, True]
    kinds = ["box", "discrete"] if roles & {"action", "action_space"} else ["discrete", "box"]
    made = [
        Form(container=container, batched=batched, actions=kind)
        for batched in axes
        for container in ("numpy", "torch")
        for kind in kinds
    ]
    if any(what == "obs" and ("shape" in name or name.endswith("dims")) for name, what in asked.items()):
        return [*made, *(replace(form, pixels=True) for form in made)]  # it may be made for pictures
    if roles & {"obs", "observation_space"}:
        return made
    others = [((4,), False), ((84, 84), True), ((4, 84, 84), True)]
    return [*made, *(Form(shape=shape, pixels=pixels, actions="discrete") for shape, pixels in others)]


def has_envs(target: Any, given: Given, order: tuple[str, ...] = ()) -> bool:
    if not (inspect.isclass(target) or inspect.isroutine(target)):
        return False
    owner = target if inspect.isclass(target) else None
    return "envs" in {given.get(name) or role(name, MAKE, order) for name in parameters(target, owner)}


def _settled(report: Report) -> bool:
    """No other form can change this: all is right, or what is wrong has nothing to do with the form."""
    return all(fault.name and "cut-to-whole" not in fault.name for fault in report.faults)


def through_forms(
    target: Any, forms: Sequence[Form], audit: Callable[[Form, int], Report], *, envs: bool = False
) -> Report:
    """The audit under each form, and each way to call add, until one is clean."""
    reports: list[Report] = []
    driven: list[Form] = []
    stuck = ""
    for form in forms:
        if any(form.batched != each.batched for each in driven) and envs:
            continue  # it has an axis of environments: without one it is not what it is meant to be
        for at in range(6):
            try:
                report = audit(form, at)
            except Stuck as error:
                stuck = stuck or str(error)
                break
            if report.final or (not report.stuck and _settled(report)):
                return report
            reports.append(report)
            if not report.stuck:
                driven.append(form)
                break
    if not reports:
        return Report(stuck=stuck or "it could not be driven")
    return best(reports)


Examine = Callable[[Any, Mapping[str, str]], Verification]


def guarded(examine: Examine) -> Examine:
    """Whatever odd thing an object does to the audit itself, that is told and not raised."""

    @functools.wraps(examine)
    def run(target: Any, given: Mapping[str, str]) -> Verification:
        try:
            with seeded():
                return examine(target, given)
        except Exception as error:
            said = f"it behaves in a way the audit does not know: {in_words(error)}"
            return Verification(oracle="", target="", outcome="unusable", reason=said)

    return run


@contextlib.contextmanager
def seeded() -> Iterator[None]:
    """The same draws each time, and the generators as they were afterwards."""
    import torch

    states = random.getstate(), np.random.get_state(), torch.get_rng_state()
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
        torch.set_rng_state(states[2])


__all__ = [
    "Played",
    "Scene",
    "feed",
    "first_forms",
    "has_envs",
    "in_words",
    "method",
    "play",
    "rows_for",
    "sampler",
    "seeded",
    "through_forms",
    "wants",
]
