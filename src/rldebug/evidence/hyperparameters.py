"""A user's hyperparameters beside a reference's: read from a file that is never run, recognised by name, compared."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import io
import math
import textwrap
import tokenize
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rldebug.evidence.given import Given
from rldebug.evidence.recognise import Unmatched, recognise
from rldebug.evidence.settings_file import read_settings
from rldebug.evidence.synonyms import concept_of_field
from rldebug.evidence.verdict import comparable, kind, verdict


@dataclass(frozen=True)
class Setting:
    """One setting of the reference."""

    name: str
    value: Any
    default: Any  # the algorithm's; the value is another where one is known to work better on an environment
    reason: str

    @property
    def changed(self) -> bool:
        return bool(self.value != self.default)


@dataclass(frozen=True)
class Row:
    """One value of the user's beside the reference's."""

    name: str  # the reference's
    given_as: str  # the user's name, or how the value was worked out
    yours: Any
    line: int
    reference: Any
    same: bool
    verdict: str  # how they differ, and what follows; "same" otherwise


@dataclass(frozen=True)
class Comparison:
    algorithm: str
    env: str | None  # the environment that the reference's settings are for; None: its defaults
    file: str
    rows: tuple[Row, ...]
    missing: tuple[Setting, ...]
    unmatched: tuple[Unmatched, ...]
    changed: tuple[Setting, ...]  # where the reference departs from its defaults, for this environment


# ── the reference ───────────────────────────────────────────────────────────────────────────────────────────────────


def reference(settings: Any) -> tuple[Setting, ...]:
    """The fields of a dataclass or of an instance; the reason is the comment beside a field, or the string below it."""
    cls = settings if isinstance(settings, type) else type(settings)
    reasons: dict[str, str] = {}
    for each in reversed(cls.__mro__):
        if dataclasses.is_dataclass(each):
            reasons |= _comments(each)
    found = []
    for field in dataclasses.fields(cls):
        default = _default(field)
        value = default if settings is cls else getattr(settings, field.name)
        found.append(Setting(field.name, value, default, reasons.get(field.name, "")))
    return tuple(found)


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return None if field.default is dataclasses.MISSING else field.default


@functools.cache
def _comments(cls: type) -> Mapping[str, str]:
    try:
        source = textwrap.dedent(inspect.getsource(cls))
    except (OSError, TypeError):  # typed in at a prompt
        return {}
    [body] = ast.parse(source).body
    beside = {
        token.start[0]: token.string.lstrip("# ").rstrip()
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }
    reasons: dict[str, str] = {}
    statements = body.body if isinstance(body, ast.ClassDef) else []
    for each, below in zip(statements, [*statements[1:], None], strict=True):
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            text = below.value.value if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) else ""
            lines = range(each.lineno, (each.end_lineno or each.lineno) + 1)
            comment = " ".join(beside[line] for line in lines if line in beside)
            reasons[each.target.id] = comment or " ".join(str(text).split())
    return reasons


# ── beside the user's ───────────────────────────────────────────────────────────────────────────────────────────────


def compare(algorithm: str, settings: Any, file: Path, env: str | None = None) -> Comparison:
    """The user's file beside the reference's settings, a dataclass or an instance: those for `env`, if it is given.

    `algorithm` decides what names mean: ppo, dqn, sac …
    """
    ours = reference(settings)
    fields = {concept_of_field(each.name, algorithm): each for each in ours}
    yours, strangers = recognise(read_settings(file), algorithm, [each.name for each in ours])
    rows: list[Row] = []
    odd: list[Unmatched] = []
    met: set[str] = set()  # concepts of the reference that have a row
    used: set[str] = set()  # concepts of the user's that a row speaks of
    for concept, target in [(each, target) for each in yours for target in _targets(each, fields)]:
        name, expected = fields[target].name, fields[target].value
        for given in yours[concept]:
            if isinstance(expected, bool) and given.value in (0, 1):  # argparse knows no booleans: many write 0 and 1
                given = dataclasses.replace(given, value=bool(given.value))
            if comparable(target, given.value, expected):
                rows.append(_row(target, name, expected, given))
            elif isinstance(given.value, int | float | str):
                odd.append(_unmatched(given, f"{kind(given.value)} here, {name} is not"))
            else:
                continue
            met.add(target)
            used.add(concept)
    rows += _worked_out(yours, fields, met, used)
    order = {each.name: place for place, each in enumerate(ours)}
    differ = {row.name for row in rows if not row.same}
    rows.sort(key=lambda row: (row.name not in differ, order.get(row.name.partition(" ")[0], 0), row.line))
    left = [
        _unmatched(given)
        for concept, places in yours.items()
        if concept not in used
        for given in places
        if isinstance(given.value, int | float)
    ]
    return Comparison(
        algorithm,
        env,
        str(file),
        tuple(rows),
        tuple(_missing(concept, each, yours) for concept, each in fields.items() if concept not in met),
        tuple(sorted((*left, *odd, *strangers), key=lambda each: (each.line, each.name))),
        tuple(each for each in ours if each.changed),
    )


def _targets(concept: str, fields: Mapping[str, Setting]) -> list[str]:
    """The concepts of the reference to compare with. One learning rate may stand for two, and two for one."""
    if concept in fields:
        return [concept]
    if concept == "lr":
        return [each for each in ("policy_lr", "value_lr") if each in fields]
    if concept == "rollout_total" and "n_envs" not in fields:  # one environment: its steps are all there are
        return [each for each in ("rollout_steps",) if each in fields]
    return ["lr"] if concept in ("policy_lr", "value_lr") and "lr" in fields else []


def _row(concept: str, name: str, expected: Any, given: Given) -> Row:
    said = verdict(concept, given.value, expected)
    return Row(name, given.name, given.value, given.line, expected, said == "same", said)


def _unmatched(given: Given, why: str = "") -> Unmatched:
    return Unmatched(given.name, given.value, given.line, why)


def _missing(concept: str, setting: Setting, yours: Mapping[str, Any]) -> Setting:
    if concept in ("target_every", "tau") and not {"target_every", "tau"} & yours.keys():
        reason = "nothing in the file sets it; without a target network, targets chase the network that learns"
        return dataclasses.replace(setting, reason=reason)
    return setting


# ── values that one side says outright and the other in parts ───────────────────────────────────────────────────────

# Concept, what is multiplied, what it is divided by.
_FORMULAS: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("rollout_total", ("rollout_steps", "n_envs"), ()),
    ("rollout_steps", ("rollout_total",), ("n_envs",)),
    ("minibatch", ("rollout_steps", "n_envs"), ("n_minibatches",)),
    ("minibatch", ("rollout_total",), ("n_minibatches",)),
    ("n_minibatches", ("rollout_steps", "n_envs"), ("minibatch",)),
    ("n_minibatches", ("rollout_total",), ("minibatch",)),
    ("epsilon_steps", ("epsilon_fraction", "total_steps"), ()),
    ("epsilon_fraction", ("epsilon_steps",), ("total_steps",)),
)


def _worked_out(
    yours: Mapping[str, Sequence[Given]], fields: Mapping[str, Setting], met: set[str], used: set[str]
) -> list[Row]:
    """Rows for what can be worked out on either side; what they cover is added to `met` and `used`."""
    single = {concept: places[0] for concept, places in yours.items() if len(places) == 1}
    rows: list[Row] = []
    for concept, top, bottom in _FORMULAS:
        value, words = _evaluate(top, bottom, single)
        if value is not None and concept in fields and concept not in met:
            line = min(single[each].line for each in (*top, *bottom))
            rows.append(_row(concept, fields[concept].name, fields[concept].value, Given(words, value, line)))
            met.add(concept)
            used.update(top, bottom)
    for concept, top, bottom in _FORMULAS:
        value, words = _evaluate(top, bottom, fields)
        if value is not None and concept in single and concept not in used and not {*top, *bottom} <= met:
            rows.append(_row(concept, words, value, single[concept]))
            met.update(top, bottom)
            used.add(concept)
    return rows


def _evaluate(
    top: Sequence[str], bottom: Sequence[str], known: Mapping[str, Given] | Mapping[str, Setting]
) -> tuple[float | None, str]:
    """The value of a formula, and how it is written with the names of that side."""
    if not all(each in known and isinstance(known[each].value, int | float) for each in (*top, *bottom)):
        return None, ""
    if not all(known[each].value > 0 for each in (*top, *bottom)):
        return None, ""
    words = " × ".join(known[each].name for each in top) + "".join(f" / {known[each].name}" for each in bottom)
    value = math.prod(known[each].value for each in top) / math.prod(known[each].value for each in bottom)
    return int(value) if value == int(value) else value, words
