"""Minibatches: a function or generator that flattens a rollout and cuts it up."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.verification import Verification
from rldebug.oracles.audit.batches import as_columns, batches, by_chance, check_batches, lengths, links
from rldebug.oracles.audit.coding import Form, Given, Report, Track, action, conclude, observation, scalar
from rldebug.oracles.audit.drive import guarded
from rldebug.oracles.audit.make import _KINDS, Stuck, parameters
from rldebug.oracles.audit.names import MAKE, READ, role
from rldebug.oracles.audit.read import Columns, array_of
from rldebug.oracles.call import Raised, call
from rldebug.oracles.names import BAGS
from rldebug.oracles.oracle import Mistake, Oracle

STEPS, ENVS, SIZE = 4, 3, 6
_BATCH = f"{MAKE['batch']} size n k mb"
_OPTIONS = {
    "batch": _BATCH,
    "minibatches": f"{MAKE['minibatches']} num_batches n_chunks num_splits",
    "epochs": MAKE["epochs"],
    "total": "num_samples n_samples total total_size length data_size num_rows dataset_size buffer_size rollout_size",
    "shuffle": "shuffle",
    "rng": "rng generator key",
}
_FIELDS = {
    name: READ[name] for name in ("obs", "action", "reward", "value", "logp", "advantage", "return", "next_obs", "done")
}


@guarded
def examine(target: Any, given: Given) -> Verification:
    report = _examined(target, given)
    return conclude("minibatches", report, MISTAKES)


def _examined(target: Any, given: Given) -> Report:
    if not callable(target):
        return Report(stuck=f"expected a function such as {MINIBATCHES.example}")
    reports: list[Report] = []
    ways = [
        (layout, kind, container)
        for layout in ("(T, B)", "(N,)")
        for kind in ("discrete", "box")
        for container in ("torch", "numpy")
    ]
    for layout, kind, container in ways:
        form = Form(container=container, batched=True, actions=kind)
        report = Report(convention=(f"layout {layout}", "torch tensors" if container == "torch" else "numpy arrays"))
        try:
            _audit(target, given, form, layout, report)
        except Stuck as error:
            report.stuck = str(error)
        if not report.stuck and all(fault.name for fault in report.faults):
            return report
        reports.append(report)
    driven = [report for report in reports if not report.stuck]
    return (driven or reports)[0]


def _audit(target: Any, given: Given, form: Form, layout: str, report: Report) -> None:
    track = Track(ENVS, STEPS)
    data = {name: _laid(values, layout, form.container) for name, values in _fields(track, form).items()}
    named: dict[str, Any] = {}
    asked = {name: each for name, each in parameters(target).items() if each.kind in _KINDS}
    taken: list[str] = []
    total = STEPS * ENVS
    for name, parameter in asked.items():
        what = given.get(name) or role(name, _FIELDS)
        option = given.get(name) or role(name, _OPTIONS)
        bag = name.lower().strip("_") in BAGS and (parameter.default is parameter.empty) and name != "batch_size"
        if bag and not taken:
            keys = _keys(target, name)
            named[name] = {key: data[role(key, _FIELDS) or key] for key in keys if (role(key, _FIELDS) or key) in data}
            named[name] = named[name] or data
            taken = list(named[name])
            report.mapping[name] = f"a dict of {', '.join(named[name])}"
        elif option == "epochs":
            named[name] = 1
        elif option == "shuffle":
            named[name] = True
        elif option == "rng":
            if parameter.default is parameter.empty:
                named[name] = np.random.default_rng(0)
        elif option == "total":
            named[name] = total
        elif option == "minibatches":
            named[name] = total // SIZE
        elif what in data and name.lower() != "n":
            named[name] = data[what]
            taken.append(what)
            report.mapping[name] = what
        elif option == "batch":
            named[name] = SIZE
            report.mapping[name] = f"the size of a minibatch = {SIZE}"
        elif parameter.default is parameter.empty:
            raise Stuck(
                f"{name} is not understood; expected arguments such as obs, actions, logprobs, advantages, returns, "
                f"batch_size. Say what it is with --map {name}=obs"
            )
    spread = [name for name, each in parameters(target).items() if each.kind is each.VAR_POSITIONAL]
    args: tuple[Any, ...] = ()
    if spread and not taken:
        taken = ["obs", "action", "logp", "advantage"]
        args = tuple(data[name] for name in taken)
    _run(target, args, named, taken, form, layout, track, report)


def _run(
    target: Callable[..., Any],
    args: tuple[Any, ...],
    named: Mapping[str, Any],
    taken: list[str],
    form: Form,
    layout: str,
    track: Track,
    report: Report,
) -> None:
    def play() -> list[Any]:
        first = [name for name in named if parameters(target)[name].kind is not inspect.Parameter.KEYWORD_ONLY]
        ordered = [*first]
        if args:
            return batches(
                target(*args, **named) if not ordered or _after(target) else target(*[named[n] for n in ordered], *args)
            )
        return batches(target(**named))

    outcome = call(play, (), {}, seconds=5.0)
    if isinstance(outcome, Raised):
        report.stuck = f"it raised {outcome.said}"
        return
    parts: list[Columns] = []
    total = track.envs * track.length
    if not taken or _are_indices(outcome, total):
        parts = _by_index(outcome, form, track, layout)
        if not parts:
            report.stuck = "what it yields is not understood: expected minibatches of fields, or arrays of row numbers"
            return
    else:
        for each in outcome:
            parts.append(as_columns(each, [*lengths(each), SIZE, total], (track.length, track.envs), form))
        parts = [part for part in parts if part]
    scene = f"{track.length} steps of {track.envs} environments, minibatches of {SIZE}"
    whole = check_batches(parts, form, track, scene, taken, report) if parts else None
    if whole is None:
        report.stuck = report.stuck or "what it yields is not understood: no observations are found in it"
        return
    report.scenes = 1
    if report.faults:
        again = call(play, (), {}, seconds=5.0)
        if not isinstance(again, Raised) and not _are_indices(again, total):
            others = [
                as_columns(each, [*lengths(each), SIZE, total], (track.length, track.envs), form) for each in again
            ]
            by_chance(links(parts, form, track), links([each for each in others if each], form, track), report)


def _after(target: Any) -> bool:
    """Whether its own arguments come after *fields, by keyword only."""
    return all(
        each.kind in (each.KEYWORD_ONLY, each.VAR_POSITIONAL, each.VAR_KEYWORD) for each in parameters(target).values()
    )


def _fields(track: Track, form: Form) -> dict[str, NDArray[Any]]:
    found = {
        "obs": np.stack([[observation(step.code, form) for step in row] for row in track.steps]),
        "next_obs": np.stack([[observation(step.next_code, form) for step in row] for row in track.steps]),
        "action": np.stack([[np.asarray(action(step.number, form)) for step in row] for row in track.steps]),
        "done": np.array([[step.done for step in row] for row in track.steps], dtype=np.float32),
    }
    for name in ("reward", "value", "logp", "advantage", "return"):
        found[name] = np.array([[scalar(name, step.number) for step in row] for row in track.steps], dtype=np.float32)
    return found


def _laid(values: NDArray[Any], layout: str, container: str) -> Any:
    array = values.reshape(-1, *values.shape[2:]) if layout == "(N,)" else values
    if container == "torch":
        import torch

        return torch.as_tensor(array)
    return array.copy()


def _keys(target: Any, name: str) -> list[str]:
    from rldebug.oracles.bag import asked_for

    return asked_for(target, name)


def _are_indices(parts: list[Any], total: int) -> bool:
    arrays = [array_of(each) for each in parts]
    return all(a is not None and a.ndim == 1 and a.dtype.kind in "iu" and a.size and a.max() < total for a in arrays)


def _by_index(parts: list[Any], form: Form, track: Track, layout: str) -> list[Columns]:
    """A function that only gives numbers of rows: the rows themselves, as they would be read with them."""
    data = _fields(track, form)
    flat = data["obs"].reshape(track.length * track.envs, -1)
    found: list[Columns] = []
    for each in parts:
        array = array_of(each)
        if array is None or array.ndim != 1 or array.dtype.kind not in "iu" or array.max(initial=0) >= len(flat):
            return []
        found.append({"obs": flat[array]})
    return found


_PAIR = "The policy gradient multiplies the probability of one action with the advantage of another."

MISTAKES = (
    Mistake(
        "BUF191", "minibatches-envs-mixed", "Fields are flattened in different orders of steps and environments.", {},
        wrong="b_obs = obs.reshape(-1, d); b_adv = adv.T.reshape(-1)",
        right="b_obs = obs.reshape(-1, d); b_adv = adv.reshape(-1)",
        harm=_PAIR,
        fix="flatten all fields in the same order",
        seen_in="ikostrikov/pytorch-a2c-ppo-acktr-gail issue #97",
    ),
    Mistake(
        "BUF192", "minibatches-fields-drawn-apart", "Fields of one row belong to different steps.", {},
        wrong="obs[torch.randperm(n)], actions[torch.randperm(n)]",
        right="order = torch.randperm(n); obs[order], actions[order]",
        harm=_PAIR,
        fix="draw one order, and use it for all fields",
    ),
    Mistake(
        "BUF193", "minibatches-rows-missing", "Some rows are in no minibatch.", {},
        wrong="for start in range(0, n - size, size)",
        right="for start in range(0, n, size)",
        harm="Part of what was played is thrown away in each epoch.",
        fix="go on to the last row",
    ),
    Mistake(
        "BUF194", "minibatches-rows-twice", "Some rows are in more than one minibatch.", {},
        wrong="for start in range(0, n, size // 2): order[start : start + size]",
        right="for start in range(0, n, size): order[start : start + size]",
        harm="These rows count double; an epoch is longer than it should be.",
        fix="cut minibatches that do not overlap",
    ),
    Mistake(
        "BUF195", "minibatches-drawn-with-replacement", "Minibatches are drawn with replacement.", {},
        wrong="idx = torch.randint(n, (size,))  # for each minibatch",
        right="order = torch.randperm(n); idx = order[start : start + size]",
        harm="In an epoch, a third of the rows is not seen, and others several times.",
        fix="shuffle once an epoch, and cut the order into minibatches",
        seen_in="37 implementation details of PPO, core detail 6",
    ),
    Mistake(
        "BUF196", "minibatches-same-batch-each-time", "Every minibatch has the same rows.", {},
        wrong="for start in range(0, n, size): yield obs[order[:size]]",
        right="for start in range(0, n, size): yield obs[order[start : start + size]]",
        harm="All but the first minibatch is never learned from.",
        fix="use the start of the slice",
    ),
)  # fmt: skip

MINIBATCHES = Oracle(
    name="minibatches",
    aliases="minibatch mini-batches minibatch-generator batch-iterator",
    code="BUF190",
    summary="Minibatches of a rollout: each row in one of them, with all fields from the same step.",
    formula="∪ minibatches = all T · B rows, each once",
    example="def minibatches(obs, actions, logprobs, advantages, returns, values, batch_size)",
    references="Schulman and others, *Proximal policy optimization algorithms*.",
    mistakes=MISTAKES,
    examine=examine,
)
