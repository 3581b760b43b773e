"""Script: what an unmodified program was seen to do. Read back from a run folder; everything that judges it is pure.
 Two files beside `readings.jsonl`. `script.jsonl` has a line for everything that is rare (an environment, a network,
an optimizer, a seed, a checkpoint) and is written as it happens; the last line about a thing is what counts.
`audits/NNNN.npz` holds one audited stretch of the program each: the observations it was handed (nodes), and in order
what it did with them (events): which network was called on which rows, what each loss was made of, who stepped.

Never a pickle; numbers are arrays, all else is JSON.
"""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldebug.finding import Where

UNKNOWN = -1  # a row that matches no observation: it was changed on the way, or is older than what is remembered


@dataclass(frozen=True, eq=False)
class Nodes:
    """Observations handed to the program, and the step it took from each. One row each; ids rise with time.

    nxt is the state that the step truly led to, the final observation where an episode ended; succ is what the program
    acted on next in that lane, the observation of the reset. Half of all mistakes confuse the two.
    """

    id: NDArray[np.int64]
    stream: NDArray[np.int64]  # index into script.streams
    lane: NDArray[np.int64]
    call: NDArray[np.int64]  # the number of the env call, of this stream, that returned it
    phase: NDArray[np.int64]  # in which the program acted from it; if it did not, in which it was returned
    update: NDArray[np.int64]  # optimizer steps taken before that
    reward: NDArray[np.float64]  # of the step from here; NaN where none was taken
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    phantom: NDArray[np.bool_]  # the env was reset by this step: action ignored, reward 0, no transition
    first: NDArray[np.bool_]  # returned by a reset
    acted: NDArray[np.bool_]  # a step was taken from here
    action: NDArray[np.float64]  # (n, k), as given to step; NaN where none
    nxt: NDArray[np.int64]
    succ: NDArray[np.int64]
    alike: NDArray[np.int64]  # other remembered observations that are equal to this one: such rows are ambiguous
    obs: NDArray[np.float32]  # (n, d) where observations are narrow, else (n, 0); NaN rows where no longer remembered
    obs_stats: NDArray[np.float64]  # (n, 5): min, max, mean, standard deviation, 52 bits of its hash

    def __len__(self) -> int:
        return len(self.id)

    def index(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Places in these columns of the given ids; UNKNOWN where an id is not among them."""
        wanted = np.ravel(ids).astype(np.int64)
        if not len(self.id):
            return np.full(len(wanted), UNKNOWN, dtype=np.int64)
        places = np.minimum(np.searchsorted(self.id, wanted), len(self.id) - 1)  # ids rise
        return np.where(self.id[places] == wanted, places, UNKNOWN)

    def column(self, name: str, ids: NDArray[np.int64]) -> NDArray[Any]:
        """A column at the given ids. Ask only for ids that are known: `known(ids)`."""
        return np.asarray(getattr(self, name)[self.index(ids)])

    def known(self, ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        return self.index(ids) >= 0


@dataclass(frozen=True, eq=False)
class Event:
    """One thing that happened in an audited stretch. What `detail` and `arrays` hold, by kind, is said in EVENTS."""

    order: int
    kind: str
    update: int  # optimizer steps before it
    call: int  # env calls before it, of all streams
    detail: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        return self.detail[name]

    def get(self, name: str, default: Any = None) -> Any:
        return self.detail.get(name, default)

    @property
    def where(self) -> Where:
        line = self.detail.get("line")
        return Where(file=line[0], line=line[1], update=self.update) if line else Where(update=self.update)


EVENTS: dict[str, str] = {
    "call": """a module called from outside any other (depth 0), or one inside that is also called from outside.
        module: its name in script.modules; training: its mode; grad: whether gradients were on; acting: its rows are
        the current observations of all lanes; match: how rows were found ("raw", "scaled", "centred",
        "channels-first", "one-hot", "slice", "parts": tensors that make up one observation together, "alias": rows
        that nothing explains, just after the environment was called; "tag": computed from rows of another call; of a
        term "entered": its network changed them within; "none"); inputs, outputs: [{shape, dtype, attached}];
        returns: type; line; drew: of one that acts: torch's own generators went on meanwhile; axes: of pictures with
        channels last that it gave to a layer with channels first, "moved", or "kept" by a reshape; axes_line.
        arrays: rows (node ids, UNKNOWN = -1), input (rows, ≤ 64 columns) or input_stats (rows, 4:
        min, max, mean, std) where it is wide, input1, input2 (further inputs, where narrow: the action of a critic),
        begun (of sequences: the state that each begins with, in its first row; NaN in the others),
        output0, output1, … (rows, ≤ 64 columns, or whole where they are few; tensors among the outputs, of a
        distribution its parameters). Calls that differ in their rows only are merged into one
        event: `calls` says how many, arrays `orders`, `updates` and `at` (env calls before it) say for each row when
        it was; the same holds for logp, sample and entropy""",
    "loss": """Tensor.backward or autograd.grad on something. value; how ("backward", "grad"); reached: names of
        modules whose parameters it leads to; frozen: those of its modules' parameters that it misses; line; scale (of
        a GradScaler, or 1); terms: number of `term` events that follow. No arrays""",
    "term": """one additive part of the loss before it. kind, coefficient, reduction, op, rows, shapes, attached,
        clip, line: as in capture.loss_terms.Term; reached: modules; match; strays: leaves beneath it that no network
        and no optimizer holds; plain: how many of those are no nn.Parameter; cut_off: modules with layers that a
        policy reads, and a regression trains. arrays: those of the term (prediction, target, weight, ratio, logp,
        index, action …)
        and rows: node ids of the inputs of the network beneath, given: how many there were where only some of them are
        learned from, picked: which; spread (rows, several): the targets of each row, where
        each of several predictions is held against each of them""",
    "step": """optimizer.step. optimizer: its name; lr; grad_norm; change (norm of the step / norm of the weights);
        zeroed: whether gradients had been cleared since its last step (None: not known); without: number of parameter
        tensors with no gradient, of; clipped: by clip_grad since the last step; line""",
    "zero": "optimizer.zero_grad or module.zero_grad. optimizer or module; line",
    "clip": "clip_grad_norm_ / clip_grad_value_. limit, norm (before), after_step: the gradients had been used; line",
    "schedule": "scheduler.step. lr before and after; line",
    "copy": """weights written into a module other than by an optimizer. module; source (a module with the same
        weights now, or None); how ("load_state_dict", "in place"); line""",
    "blend": """weights that became keep times themselves plus take times those of another network, where the two do not
        add up to one. module; source; keep; take; residual""",
    "logp": """Distribution.log_prob, outermost. dist (class); batch, event: shapes; value_shape, shape (of the
        result); attached; value_attached (reparameterised); made: the operation that made each parameter, None where
        there is no graph; line. arrays: value, result, params (≤ 4096 values each)""",
    "entropy": "Distribution.entropy, outermost. dist, shape; arrays: result",
    "sample": "Distribution.sample / rsample, torch.multinomial, outermost. dist, how; arrays: result, params",
    "gradient": """the gradient of a loss at the output of a call, in the backward pass that follows the loss. module;
        of: the order of that call; output: which of its outputs; task: the same for all gradients of one backward
        pass. arrays: gradient (rows of the call, ≤ 64 columns)""",
    "scalar": """a step of an optimizer that holds a few numbers only, as a temperature. optimizer; before, gradient,
        after: the numbers; line""",
    "tokens": """a call of a network that is given sequences of whole numbers and answers with scores for each place.
        module; grad; training; shape of the scores; line. arrays: ids (rows, places), logp: of each next token, last:
        the scores at the last place, where no gradient is wanted; logp_below, last_below: where (places, rows);
        scores: all of them, where they are few and no gradient is wanted""",
    "token-gradient": """the gradient at those scores. of: order of the `tokens` event; slope: one over the temperature
        of the loss. arrays (rows, places): label: the token that each place is pushed towards or from, push (positive:
        made more likely), size: sum of all, chance: log-prob of the label""",
    "token-values": """what a critic says of each place of sequences, with the scores or by a network of its own.
        module; grad; line. arrays (rows, places): ids, values""",
    "value-gradient": """the gradient at those values. of: order of the `token-values` event. arrays: gradient""",
    "rescaled": """rewards of a batch that a library normalised when they were sampled. arrays: given (as they were
        stored), used""",
    "held": """numbers of the program, one or one row for each sequence, when it begins to learn from them. names;
        written: how many sequences may have been written. arrays: "0", "1", … in the order of names; "x[].y" is the
        field y of each object in a list x, filled up with -1 or NaN""",
    "weights": """at the end of the audit, once for each module that was called, or is trained. module; norm; change:
        of the weights since the last audit, relative; fingerprint; training: its mode; distance: {other module of the
        same shape: relative distance}; statistics: the same of its buffers, {fingerprint, distance}""",
}


@dataclass(frozen=True, eq=False)
class Audit:
    """A stretch of the program in which everything was looked at: acting, and at least one update."""

    number: int
    phase: int
    update: int  # optimizer steps before it
    env_step: int
    nodes: Nodes
    events: tuple[Event, ...]
    cut: bool = False  # the phase had more updates than were looked at

    def of(self, *kinds: str) -> list[Event]:
        return [each for each in self.events if each.kind in kinds]

    @cached_property
    def calls(self) -> list[Event]:
        return self.of("call")

    @cached_property
    def acting(self) -> list[Event]:
        return [each for each in self.calls if each.get("acting")]

    @cached_property
    def losses(self) -> list[tuple[Event, list[Event]]]:
        """Each loss with its terms."""
        found: list[tuple[Event, list[Event]]] = []
        for each in self.events:
            if each.kind == "loss":
                found.append((each, []))
            elif each.kind == "term" and found:
                found[-1][1].append(each)
        return found

    def terms(self, kind: str) -> list[Event]:
        return [each for each in self.of("term") if each["kind"] == kind]


@dataclass(frozen=True, eq=False)
class Script:
    """Everything that was seen of a program, by rldebug run."""

    audits: Sequence[Audit] = ()
    things: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)  # kind -> key -> the last line
    notes: Sequence[Mapping[str, Any]] = ()  # what happened once: {"kind": "seed", …}; see NOTES
    meta: Mapping[str, Any] = field(default_factory=dict)
    path: Path | None = None
    problems: tuple[str, ...] = ()

    @property
    def streams(self) -> list[Mapping[str, Any]]:
        """The environments, in the order of their first call; see THINGS."""
        return sorted(self.things.get("stream", {}).values(), key=lambda each: int(each["index"]))

    @property
    def modules(self) -> Mapping[str, Mapping[str, Any]]:
        return self.things.get("module", {})

    @property
    def optimizers(self) -> Mapping[str, Mapping[str, Any]]:
        return self.things.get("optimizer", {})

    def owners(self, module: str) -> Mapping[str, int]:
        """Optimizers that hold parameters of a network, and how many; also of one that was gone before it was told."""
        told = self.modules.get(module)
        if told is not None:
            return told.get("owners") or {}
        holds = {name: (each.get("modules") or {}) for name, each in self.optimizers.items()}
        return {name: int(each[module]) for name, each in holds.items() if isinstance(each, dict) and module in each}

    @property
    def counts(self) -> Mapping[str, Any]:
        """How often things happened in all: updates, env_steps, phases, audits, backwards, …"""
        return self.things.get("counts", {}).get("all", {})

    def noted(self, kind: str) -> list[Mapping[str, Any]]:
        return [each for each in self.notes if each.get("kind") == kind]

    def events(self, *kinds: str) -> Iterator[tuple[Audit, Event]]:
        for audit in self.audits:
            for event in audit.of(*kinds):
                yield audit, event

    def terms(self, kind: str) -> Iterator[tuple[Audit, Event]]:
        for audit in self.audits:
            for event in audit.terms(kind):
                yield audit, event


THINGS: dict[str, str] = {
    "stream": """an environment, by index: index, name, kind, lanes, autoreset, facts (see capture.environments;
        unseeded_generator: its own generator was made with a seed of the operating system; reset_within: class, file,
        line of the step of another environment that resets it),
        steps, resets, phases: in how many phases it was stepped, learned: training rows that came from it, acted:
        acting calls on it with gradients off / on, seeds: [given to reset, first 32], returns, lengths, terminated
        (flags), at (update number), each of up to 2048 episodes, episodes (how many in all), terminations,
        truncations, stepped_after_end, reward: {min, max, mean, std, zero (share), distinct}, action: {counts: {…}}
        or {low, high, mean, std: per element, outside: share beyond the space}, obs: {min, max, mean, std: per
        element, first 64, or of all; nonfinite; blank: share of observations in which all elements are equal;
        repeated: share equal to the one before; aliased: share returned as the same object as before}""",
    "module": """a network, by name: class, label (what the program calls it), parameters, tensors, trainable, owners:
        {optimizer: tensors}, layers: {kind: count}, last (kind of the last layer), line where first called, calls,
        acting, trained (rows), inside: the module it is a part of""",
    "optimizer": """by name: class, label, settings of its first group, groups, tensors, numel, steps, zeros, created
        (line), lr_first, lr_last, modules: {module: tensors}, missing: parameters it has that belong to no module
        seen""",
    "rank": """one line, of a process that joined a group: rank, world, collectives: {name: calls}, calls: of all ranks
        together, before_updates: {name: calls before the first optimizer step}, phases: updates before each of the
        first phases, wrapped: whether a network is called through DistributedDataParallel""",
    "glance": """weights looked at between audits, of a network that has others of its shapes: module, updates, prints:
        fingerprints of its weights then, distance: [{other: relative distance}]""",
    "counts": "one line: updates, env_steps, phases, audits, seconds, spent (seconds in rldebug), episodes, …",
}
NOTES: dict[str, str] = {
    "seed": "what (torch, numpy, python, env, …), value, line, update, env_step",
    "normalisers": """at the end of an audit, and amid an evaluation, layers around environments that scale
        observations by what they have seen.
        audit, environments: [{stream, what, updates: whether it goes on counting, kept: which object the statistics
        are, count, mean, var}], rewards: the same of layers that scale rewards by returns, without mean and var, own:
        layers of the program's own that keep arrays of the shape of an observation: [{stream, steps, resets: of it
        so far, what, path: where in the layer they lie, kept, arrays: {name: its elements}, counts: {name: number
        that lies beside them}}]""",
    "save": "torch.save: file, keys (of the top level), modules, optimizers: names of those whose state is in it, line",
    "load": "torch.load / load_state_dict: module or optimizer, line, update, strict, missing, unexpected",
    "thread": "thread or process started: what, line",
    "option": "an option that was parsed: name, value, default, read (how often its value was read)",
    "setting": """a number by the usual name of a hyperparameter, within reach of a call of backward: name (plain),
        value, holder (class, function, or "" for a module), how (0: variable or attribute, 1: constant, 2: a field)""",
    "support": "a row of evenly spaced numbers within reach of a call of backward: count, first, last",
    "log": "a number logged: tag, value, step, line; thinned",
    "child": """a process that trained, below the run's or beside it: number, updates, env_steps, told: whether its
        record is the run's; and once it is read (forensics/rank_summary.py) rank, world, state, seeds, steps:
        {optimizer@update: [norm of the gradient, rate]}, weights: {module@update: norm}, seen: first observations and
        rewards, firsts: of episodes, inputs: {module@phase: slope, shift, spread}, sampled: {optimizer@step: see
        rank_step}, last: the last collective""",
    "rank_step": """a step of an optimizer on one rank: optimizer, step (of it), phase, modules, shapes, rate, how
        (class), passes (backward), and of some parameters some numbers: local (gradient out of the backward passes
        since the step before), clipped (when it was first clipped), stepped (with which it steps), weights""",
    "flag": "a parameter that a function ignores, and a call gives: name, function, default, line, called (line)",
    "compile": "torch.compile was called: line",
    "amp": "GradScaler or autocast used",
}


def read_script(path: Path | str) -> Script | None:
    """What rldebug run left in a folder, or None where rldebug.watch recorded it. Damage is named, and left out."""
    path = Path(path)
    lines, audits = path / "script.jsonl", path / "audits"
    if not lines.exists() and not audits.is_dir():
        return None
    problems: list[str] = []
    things: dict[str, dict[str, Mapping[str, Any]]] = {}
    notes: list[Mapping[str, Any]] = []
    for line in _lines(lines, problems):
        if "thing" in line:
            things.setdefault(str(line["thing"]), {})[str(line["key"])] = line
        else:
            notes.append(line)
    try:
        meta = json.loads((path / "run.json").read_bytes())
    except (OSError, ValueError):
        meta = {}
    found = [each for file in sorted(audits.glob("*.npz")) if (each := _audit(file, problems)) is not None]
    return Script(found, things, notes, meta if isinstance(meta, dict) else {}, path, tuple(problems))


def _lines(file: Path, problems: list[str]) -> Iterator[dict[str, Any]]:
    try:
        lines = file.read_bytes().split(b"\n")
    except OSError as error:
        problems.append(f"script.jsonl cannot be read: {error}")
        return
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            read = json.loads(line)
            if not isinstance(read, dict):
                raise ValueError("expected a JSON object")
            yield read
        except ValueError as error:
            cut = "the last line was cut off in writing" if number == len(lines) else str(error)
            problems.append(f"script.jsonl line {number} was left out: {cut}")


def _audit(file: Path, problems: list[str]) -> Audit | None:
    try:
        with file.open("rb") as opened, np.load(opened, allow_pickle=False) as arrays:
            return decode_audit({name: arrays[name] for name in arrays.files})
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile, EOFError) as error:
        problems.append(f"audits/{file.name} was left out: {error}")
        return None


def encode_audit(audit: Audit) -> dict[str, NDArray[Any]]:
    """The arrays of the file: one JSON text, and all numbers of one type behind one another (hundreds of small arrays
    would take longer to open than to judge)."""
    named = {f"nodes/{name}": column for name, column in vars(audit.nodes).items() if isinstance(column, np.ndarray)}
    for place, event in enumerate(audit.events):
        named |= {f"{place}/{name}": np.asarray(array) for name, array in event.arrays.items()}
    by_type: dict[str, list[NDArray[Any]]] = {}
    for array in named.values():
        by_type.setdefault(array.dtype.str, []).append(array.ravel())
    head = {
        "number": audit.number,
        "phase": audit.phase,
        "update": audit.update,
        "env_step": audit.env_step,
        "cut": audit.cut,
        "events": [[each.order, each.kind, each.update, each.call, each.detail] for each in audit.events],
        "arrays": [[name, array.dtype.str, array.shape] for name, array in named.items()],
    }
    text = json.dumps(head, separators=(",", ":"), default=_plain)
    flat = {f"of {kind}": np.concatenate(arrays) for kind, arrays in by_type.items()}
    return {"head": np.frombuffer(text.encode(), dtype=np.uint8), **flat}


def decode_audit(arrays: Mapping[str, NDArray[Any]]) -> Audit:
    head = json.loads(arrays["head"].tobytes())
    of_event: dict[int, dict[str, NDArray[Any]]] = {}
    nodes: dict[str, NDArray[Any]] = {}
    for name, array in _named(head, arrays):
        place, _, rest = name.partition("/")
        if place == "nodes":
            nodes[rest] = array
        elif place.isdigit():
            of_event.setdefault(int(place), {})[rest] = array
    events = tuple(
        Event(order, kind, update, call, detail, of_event.get(place, {}))
        for place, (order, kind, update, call, detail) in enumerate(head["events"])
    )
    cut = head.get("cut", False)
    return Audit(head["number"], head["phase"], head["update"], head["env_step"], Nodes(**nodes), events, cut)


def _named(head: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Iterator[tuple[str, NDArray[Any]]]:
    flat = {kind: arrays[f"of {kind}"] for kind in {kind for _, kind, _ in head["arrays"]}}
    taken = dict.fromkeys(flat, 0)
    for name, kind, shape in head["arrays"]:
        begin, taken[kind] = taken[kind], taken[kind] + math.prod(shape)
        yield name, flat[kind][begin : taken[kind]].reshape(shape)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    return str(value)
