"""A rollout buffer under audit: filled, read, and filled again."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rldebug.oracles.audit.batches import as_columns, batches, by_chance, check_batches, lengths, links
from rldebug.oracles.audit.coding import Form, Given, Report, Step, Track, observation, scalar, scalar_number
from rldebug.oracles.audit.drive import GAMMA, Scene, has_envs, wants
from rldebug.oracles.audit.make import _KINDS, Stuck, construct, fields, method, needed, parameters, plans
from rldebug.oracles.audit.names import MAKE, METHODS, READ, role
from rldebug.oracles.audit.objects import Plan
from rldebug.oracles.audit.read import Columns, array_of, named, read, stacked
from rldebug.oracles.audit.rows import Rows
from rldebug.oracles.call import Raised, call

LAM = 0.5
_CLEARS = re.compile(r"^(reset|clear|empty|flush|clean|wipe|after_update)")
ORDER = ("steps", "capacity", "n_step")
SCENES = (
    Scene("4 steps of one environment", 4, capacity=4),
    Scene("3 steps of 2 environments", 3, capacity=3, envs=2),
    Scene("4 steps of 3 environments", 4, capacity=4, envs=3),
)


def forms_for(target: Any, given: Given, envs: bool) -> list[Form]:
    asked: set[str | None] = set()
    if inspect.isclass(target) or inspect.isroutine(target):
        owner = target if inspect.isclass(target) else None
        asked = {given.get(name) or role(name, MAKE, ORDER) for name in parameters(target, owner)}
    kinds = ["box", "discrete"] if asked & {"action", "action_space"} else ["discrete", "box"]
    made = []
    for batched in (True, False) if envs else (False, True):
        for kind in kinds:
            made += [Form(container=each, batched=batched, actions=kind) for each in ("numpy", "mixed", "torch")]
            if batched:
                made.append(Form(container="torch", batched=True, actions=kind, column=True))
    return made


def audit(target: Any, form: Form, at: int, given: Given) -> Report:
    report = Report(convention=form.said())
    for number, scene in enumerate(SCENES):
        if scene.envs > 1 and not (form.batched and has_envs(target, given, ORDER)):
            continue
        run = _Run(target, scene, form, at, given, report)
        outcome = call(run.play, (), {}, seconds=10.0)
        if isinstance(outcome, Raised):
            if isinstance(outcome.error, Stuck):
                raise outcome.error
            if number == 0 or (number == 1 and not report.scenes):
                report.stuck = f"{run.phase} raised {outcome.said}, on {scene.name}"
                return report
            report.add("", f"{run.phase} raised {outcome.said}, on {scene.name}", "a rollout")
            continue
        if report.stuck:
            return report
        report.scenes += 1
        if report.faults and scene.envs * scene.length > 3:
            again = _Run(target, scene, form, at, given, Report())
            if not isinstance(call(again.play, (), {}, seconds=10.0), Raised):
                by_chance(run.links, again.links, report)
    if not report.scenes and not report.faults:
        report.stuck = "it has no scene to be played with"
    _prune(report)
    return report


class _Run:
    def __init__(self, target: Any, scene: Scene, form: Form, at: int, given: Given, report: Report) -> None:
        self.target, self.scene, self.form, self.at, self.given = target, scene, form, at, given
        self.report, self.phase = report, "make"
        self.links: dict[str, Any] = {}
        self.roles: set[str] = set()
        self.track = Track(scene.envs, 2 * scene.length)
        self.batch = {4: 2, 6: 2, 12: 6}[scene.length * scene.envs]

    def play(self) -> None:
        more = wants(self.scene, self.form) | {
            "steps": self.scene.length,
            "lam": LAM,
            "batch": self.batch,
            "minibatches": 2,
            "epochs": 1,
            "hidden": 1,
        }
        self.buffer, mapping = construct(self.target, more, self.form, self.given, ORDER)
        name, add = needed(self.buffer, "add", self.given, "add(self, obs, action, reward, done, value, logp)")
        ways = plans(self.buffer, name, add, self.given)
        if self.at >= len(ways):
            raise Stuck("")
        plan = ways[self.at]
        if not self.report.mapping:
            self.report.mapping = dict(mapping) | dict(plan.mapping)
        self._fill(plan, add, 0)
        rows = self._read(plan, 0)
        if rows is None:
            self.report.stuck = (
                "what it returns is not understood: expected minibatches, or the rollout, in which observations can be "
                "found. Name the method with --map rollout=METHOD"
            )
            return
        self.roles = set(rows.reading.where)
        self._again(plan, add)

    def _fill(self, plan: Plan, add: Callable[..., Any], first: int) -> None:
        self.phase = "add"
        steps = self.track.steps
        later = _with_first(self.buffer, self.scene.length, plan)
        if later is not None:
            _put(later, steps[first], self.form)
        for time in range(first, first + self.scene.length):
            values = fields(steps[time], self.form, steps[time - 1] if time else None)
            if later is not None:
                values["obs"] = _packed([observation(step.reset_code, self.form) for step in steps[time]])
                values["hidden"] = _packed([np.zeros(1, np.float32) for _ in steps[time]])
            args, named_ = plan.build(values)
            add(*args, **named_)
        self.phase = "finish"
        _finish(self.buffer, self.given, self.form, steps[first + self.scene.length - 1])

    def _read(self, plan: Plan, first: int) -> Rows | None:
        self.phase = "get"
        total = self.scene.length * self.scene.envs
        result = _get(self.buffer, self.given, self.batch, self.track, self.scene, first, self.form)
        parts = batches(result)
        shape = (self.scene.length, self.scene.envs)
        found: list[Columns] = []
        for part in parts:
            found.append(as_columns(part, [*lengths(part), self.batch, total], shape, self.form))
        found = [each for each in found if each]
        if not found:
            return None
        track = Track(self.scene.envs, first + self.scene.length)
        self.links = self.links or links(found, self.form, track)
        whole = check_batches(found, self.form, track, self.scene.name, plan.takes, self.report, first)
        if whole is not None:
            for what, path in whole.reading.where.items():
                self.report.mapping.setdefault(f"returned {path}", f"{what}, by its content")
            _advantages(found, whole, self.scene, self.form, self.report, first)
            _exchanged(self.buffer, self.scene.name, self.report)
        return whole

    def _again(self, plan: Plan, add: Callable[..., Any]) -> None:
        """A second rollout: nothing of the first may be left."""
        if self.report.faults:
            return
        before = list(self.report.notes)
        clear = next(
            (each for each in dir(self.buffer) if _CLEARS.search(each) and callable(getattr(self.buffer, each))), None
        )
        if clear is None or isinstance(call(getattr(self.buffer, clear), (), {}), Raised):
            return  # nothing says how it is to be emptied
        quiet = Report()
        kept, self.report = self.report, quiet
        try:
            self._fill(plan, add, self.scene.length)
            rows = self._read(plan, self.scene.length)
            for what in self.roles - (set() if rows is None else set(rows.reading.where)):
                quiet.add("", f"{what} is no longer one for each row, on {self.scene.name}", "what was added since")
        except Exception:
            return
        finally:
            self.report = kept
            self.report.notes = before
        for fault in quiet.faults:
            if fault.name == "old-rows-kept" or "no longer one for each row" in fault.seen:
                self.report.add(
                    "old-rows-kept",
                    fault.seen.replace(self.scene.name, "a second rollout"),
                    fault.expected,
                    fault.table,
                )


def _exchanged(buffer: Any, scene: str, report: Report) -> None:
    """Its own arrays by their names: whether one that is called value holds log-probabilities."""
    kinds = ("value", "logp", "reward")
    for name, held in getattr(buffer, "__dict__", {}).items():
        called = role(name, READ)
        array = array_of(held) if called in kinds else None
        if array is None or not 3 <= array.size < 1000:
            continue
        for what in kinds:
            numbers = [scalar_number(what, float(each)) for each in array.ravel() if each]
            if what != called and len(numbers) > 2 and None not in numbers:
                report.add("fields-exchanged", f"{name} holds what was added as {what}, on {scene}", f"{called} in it")


def _with_first(buffer: Any, length: int, plan: Plan) -> Any:
    """Storage of one observation more than steps, where add takes the observation after the step."""
    held = getattr(buffer, "obs", None)
    shape = getattr(held, "shape", None)
    if shape and shape[0] == length + 1 and set(plan.takes) & {"not_done", "hidden", "bad_mask"}:
        return held
    return None


def _put(held: Any, row: list[Step], form: Form) -> None:
    held[0] = _packed([observation(step.code, form) for step in row])


def _packed(values: list[Any]) -> Any:
    import torch

    return torch.as_tensor(np.stack(values))


_FINISH = {
    "last_value": "last_value last_values last_val next_value next_values bootstrap_value v_last final_value",
    "last_done": "dones done last_done next_done last_dones next_dones terminal last_terminated last_terminal",
    "gamma": MAKE["gamma"],
    "lam": MAKE["lam"],
    "use_gae": "use_gae",
    "limits": "use_proper_time_limits",
}


def _finish(buffer: Any, given: Given, form: Form, row: list[Step]) -> None:
    """Returns and advantages, with 0 as the value after the last step. What it computes there is judged elsewhere."""
    found = method(buffer, "finish", given)
    if found is None:
        return
    _, finish = found
    import torch

    count = len(row)
    flags = np.array([float(step.done) for step in row], dtype=np.float32)
    shapes = [(count, 1)] if form.column else [(count,), (), (count, 1)]
    for shape in shapes:
        for kind in ("torch", "numpy"):
            if shape == () and count > 1:
                continue
            last: Any = np.zeros(shape, np.float32)
            done: Any = flags.reshape(shape)
            if kind == "torch":
                last = torch.as_tensor(last)
            if shape == () and kind == "numpy":
                last, done = 0.0, float(flags[0])
            values = {
                "last_value": last,
                "last_done": done,
                "gamma": GAMMA,
                "lam": LAM,
                "use_gae": True,
                "limits": False,
            }
            named_: dict[str, Any] = {}
            for name, parameter in parameters(finish).items():
                what = given.get(name) or role(name, _FINISH)
                if parameter.kind in _KINDS and what in values:
                    named_[name] = values[what]
            if not isinstance(call(finish, (), named_), Raised):
                return


def _get(buffer: Any, given: Given, batch: int, track: Track, scene: Scene, first: int, form: Form) -> Any:
    steps = [row for row in track.steps if first <= row[0].time < first + scene.length]
    advantage = _packed([np.array([scalar("advantage", step.number) for step in row], np.float32) for row in steps])
    options = {
        "batch": batch,
        "minibatches": 2,
        "epochs": 1,
        "advantage": advantage[..., None] if form.column else advantage,
    }
    names: Mapping[str, str] = {
        "batch": f"{MAKE['batch']} n size",
        "minibatches": MAKE["minibatches"],
        "epochs": MAKE["epochs"],
        "advantage": "advantage advantages adv",
    }
    get = _reader(buffer, given, names)
    values: dict[str, Any] = {}
    both = False
    for name, parameter in parameters(get).items():
        what = given.get(name) or role(name, names)
        if parameter.kind not in _KINDS or what is None:
            continue
        if what == "batch" and both:
            continue
        both = both or what == "minibatches"
        values[name] = options[what]
    if "mini_batch_size" in values and both:
        del values["mini_batch_size"]
    result = get(**values)
    if inspect.isgenerator(result):
        return iter(batches(result))
    return result


def _reader(buffer: Any, given: Given, names: Mapping[str, str]) -> Callable[..., Any]:
    """The method that gives the rollout: the first of its usual names that asks for nothing unknown."""
    if "rollout" not in given:
        for each in METHODS["rollout"].split():
            found = getattr(buffer, each, None)
            if not callable(found) or isinstance(inspect.getattr_static(buffer, each, None), staticmethod):
                continue
            asked = [
                name
                for name, p in parameters(found).items()
                if p.kind in _KINDS and p.default is inspect.Parameter.empty
            ]
            if all(given.get(name) or role(name, names) for name in asked):
                return found  # type: ignore[no-any-return]
    return needed(buffer, "rollout", given, "get(self, batch_size)")[1]


def _advantages(found: list[Columns], rows: Rows, scene: Scene, form: Form, report: Report, first: int) -> None:
    """Whether advantages and returns are those of their rows: only where they are, as a whole, what they should be."""
    steps = [row for row in rows.track.steps if first <= row[0].time < first + scene.length]
    right = _gae(steps)
    every = stacked(found)
    reading = read(every, form, ("reward", "value", "logp", "advantage", "return"))
    if reading.obs is None:
        return
    by_code = {step.code: step for step in rows.track.all}
    anchors = [by_code.get(code) if code is not None else None for code in reading.obs]
    if any(step is None or step.number not in right for step in anchors):
        return
    for path, values in every.items():
        what = named(path)
        if path in reading.where.values() or values.shape[1] != 1 or what not in (None, "advantage", "return"):
            continue
        column = values[:, 0].astype(float)
        kinds = [0] if what == "advantage" else [1] if what == "return" else [0, 1]
        wants_ = [np.array([right[step.number][kind] for step in anchors if step is not None]) for kind in kinds]
        if any(_line(column, wanted) is not None for wanted in wants_):
            continue
        for wanted in wants_:
            line = _line(np.sort(column), np.sort(wanted)) if len(set(wanted.tolist())) > 4 else None
            if line is not None:
                fitted = line[0] * wanted + line[1]
                row = int(np.argmax(np.abs(column - fitted)))
                seen = f"{path} {column[row]:.4g} in the row of step {anchors[row]}, on {scene.name}"
                report.add("advantages-mispaired", seen, f"{fitted[row]:.4g}")
                break


def _line(theirs: Any, right: Any) -> tuple[float, float] | None:
    """theirs = slope · right + offset, row by row, with a slope above 0."""
    low, high = int(np.argmin(right)), int(np.argmax(right))
    span = float(right[high] - right[low])
    if span < 1e-6 or theirs[high] - theirs[low] < 1e-9:
        return None
    slope = float(theirs[high] - theirs[low]) / span
    offset = float(theirs[low]) - slope * float(right[low])
    fits = np.allclose(theirs, slope * right + offset, rtol=0.0, atol=1e-3 * float(np.ptp(theirs)))
    return (slope, offset) if fits else None


def _gae(steps: list[list[Step]]) -> dict[int, tuple[float, float]]:
    found: dict[int, tuple[float, float]] = {}
    following = [0.0] * len(steps[0])
    for time in reversed(range(len(steps))):
        for env, step in enumerate(steps[time]):
            on = 0.0 if step.done else 1.0
            after = scalar("value", steps[time + 1][env].number) if time + 1 < len(steps) else 0.0
            value = scalar("value", step.number)
            delta = scalar("reward", step.number) + GAMMA * after * on - value
            following[env] = delta + GAMMA * LAM * on * following[env]
            found[step.number] = following[env], following[env] + value
    return found


def _prune(report: Report) -> None:
    names = {fault.name for fault in report.faults}
    if "envs-mixed" in names:
        report.faults = [f for f in report.faults if f.name not in ("", "advantages-mispaired", "fields-drawn-apart")]
    if "unfilled-rows" in names:
        report.faults = [fault for fault in report.faults if fault.name not in ("", "rows-missing")]
    if "rows-share-one-array" in names:
        report.faults = [fault for fault in report.faults if fault.name not in ("", "rows-missing")]
