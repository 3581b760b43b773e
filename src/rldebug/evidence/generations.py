"""Generations: answers that a language model wrote and was trained on, one row each, from a sample of the rounds.

A round is a batch of answers, written and scored together; a pass is one loss of some of them. `generations.jsonl` in a
run folder has a line for each that was looked at. Whatever was not measured is NaN, or is no column at all.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FILE = "generations.jsonl"
FORMAT = 1
_LINES = 4096  # that are read

Columns = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Round:
    """Answers as they were written and scored. Columns, a value for each answer:

    group                which belong to one prompt, as the trainer has it
    prompt, answer       fingerprints of the tokens
    text, asked          of the prompt, as the data has it, and as the sampler was given it
    prompt_tokens, tokens, learned   how many; `learned`: within the mask of the loss
    ended                the last token is one that ends an answer; `end_inside`: there is one before the last
    end_left_out         it ended, and the mask of the loss leaves its last token out
    repeats_prompt       it begins with all tokens of its prompt
    begins_twice         the token that begins a text is there twice in the prompt; `unknown`: share of unknown tokens
    reward, reward/NAME  the sum that counts, and each function's
    unscored             by no function; `not_a_number`: by how many functions
    again/NAME           what each function said when it was asked again, in another order
    advantage            as the loss was to have it
    alone                how far its log-probs differ when it is scored alone, without filler
    alone_model          the same, of what the network itself says
    """

    number: int
    update: int  # optimizer steps before it
    columns: Columns = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)  # generator, drawn, moved, moved_updates, noise

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def column(self, name: str) -> NDArray[Any]:
        return _finite(self.columns.get(name), len(self))

    def groups(self, size: int) -> Iterator[NDArray[np.int64]]:
        """The rows of each group that is whole."""
        group = self.columns.get("group", np.empty(0, dtype=np.int64))
        for each in np.unique(group):
            rows = np.flatnonzero(group == each)
            if len(rows) == size:
                yield rows


@dataclass(frozen=True)
class Pass:
    """One loss, of some answers of a round. Columns, a value for each answer:

    answer, prompt       fingerprints, as in the round
    advantage            as the loss had it; `given`: as the round had it
    log_ratio, k3        to the log-probs of the last policy: mean size, and the estimate of the divergence
    clipped, entropy     share of the tokens; mean over them
    sampled, sampled_k3  to the log-probs of the sampler: mean size, and the estimate; `shifted_k3`: moved by one place;
                         `renormalised`: the sampler cut its distribution (top-k, top-p)
    reference, reference_k3          to those of the reference
    push                 − the sum of the gradient at its log-probs: above 0, the answer is made likelier
    force, outside       the sum of its size within and outside of the mask; `last`: at the last token, of the mean
    hold                 how the gradient goes with the distance to the reference, −1 … 1: above 0, it is held back
    """

    round: int
    update: int
    age: int  # optimizer steps since the round was written
    columns: Columns = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)  # loss, old: whether log-probs of the last policy were there

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def column(self, name: str) -> NDArray[Any]:
        return _finite(self.columns.get(name), len(self))


@dataclass(frozen=True)
class Generations:
    settings: Mapping[str, Any] = field(default_factory=dict)
    rounds: tuple[Round, ...] = ()
    passes: tuple[Pass, ...] = ()
    steps: tuple[Mapping[str, float], ...] = ()  # what the trainer logged; "update" is among it
    unseen: tuple[str, ...] = ()  # methods that this version of the library does not have
    problems: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Answers to one prompt."""
        size = self.settings.get("num_generations")
        return size if isinstance(size, int) and size > 0 else 1

    @property
    def answers(self) -> int:
        return sum(len(each) for each in self.rounds)

    def all(self, name: str) -> NDArray[Any]:
        """A column over all rounds."""
        return _joined([each.column(name) for each in self.rounds])

    def passed(self, name: str, *, fresh: bool = False) -> NDArray[Any]:
        """A column over all passes; `fresh`: of those before any update since the answers were written."""
        return _joined([each.column(name) for each in self.passes if not fresh or each.age == 0])

    def logged(self, name: str) -> NDArray[np.float64]:
        return np.array([each[name] for each in self.steps if name in each], dtype=np.float64)

    def functions(self) -> list[str]:
        """Names of the reward functions."""
        names = {name: None for each in self.rounds for name in each.columns if name.startswith("reward/")}
        return [name.removeprefix("reward/") for name in names]


def _finite(values: NDArray[Any] | None, count: int) -> NDArray[Any]:
    """What is not known is NaN, and so is what is infinite: rules count with it."""
    if values is None:
        return np.full(count, np.nan)
    return np.where(np.isfinite(values), values, np.nan) if values.dtype.kind == "f" else values


def mean(values: NDArray[Any]) -> float:
    """Of those that are known; NaN where none is."""
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else math.nan


def _joined(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.empty(0)


# ── on disk ──


def plain(values: NDArray[Any]) -> list[Any]:
    """As JSON has it: null for NaN, words for what is infinite."""
    if values.dtype.kind in "iub":
        return [int(each) for each in values]
    return [_number(float(each)) for each in values]


def _number(value: float) -> float | str | None:
    if math.isnan(value):
        return None
    return float(f"{value:.7g}") if math.isfinite(value) else str(value)


def read_generations(folder: Path) -> Generations | None:
    """None where no answers were recorded. Lines that cannot be read are left out, and counted in `problems`."""
    file = folder / FILE
    if not file.is_file():
        return None
    settings: dict[str, Any] = {}
    rounds: list[Round] = []
    passes: list[Pass] = []
    steps: list[Mapping[str, float]] = []
    unseen: dict[str, None] = {}
    wrong = 0
    problems: list[str] = []
    for text in file.read_text(encoding="utf-8", errors="replace").splitlines()[:_LINES]:
        try:
            line = json.loads(text)
            kind = line["kind"]
            if kind == "settings":
                if line.get("format") != FORMAT:
                    problems.append(
                        f"{file.name} has format {line.get('format')!r}, expected {FORMAT}: it was not read"
                    )
                    break
                settings |= dict(line["settings"])
                unseen |= dict.fromkeys(map(str, line.get("unseen", ())))
            elif kind == "round":
                rounds.append(Round(int(line["number"]), int(line["update"]), _columns(line), line.get("facts", {})))
            elif kind == "pass":
                place = int(line["round"]), int(line["update"]), int(line["age"])
                passes.append(Pass(*place, _columns(line), line.get("facts", {})))
            elif kind == "broken":
                said = str(line["traceback"]).strip().splitlines()[-1:] or [""]
                problems.append(f"rldebug's own look at {line['what']} failed and was left out: {said[0]}")
            elif kind == "step":
                steps.append({str(name): _back(each) for name, each in line["logged"].items()})
        except (ValueError, KeyError, TypeError, AttributeError):
            wrong += 1
    if wrong:
        problems.append(f"{wrong} lines of {file.name} cannot be read and were left out")
    if unseen:
        problems.append(f"this version of the library has no {', '.join(unseen)}: what they tell was not seen")
    return Generations(settings, tuple(rounds), tuple(passes), tuple(steps), tuple(unseen), tuple(problems))


def _columns(line: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    found = {str(name): _array(values) for name, values in line["columns"].items()}
    if len({len(each) for each in found.values()}) > 1:
        raise ValueError("columns of different lengths")
    return found


def _array(values: Sequence[Any]) -> NDArray[Any]:
    if all(isinstance(each, int) for each in values):
        return np.array(values, dtype=np.int64)
    return np.array([_back(each) for each in values], dtype=np.float64)


def _back(value: Any) -> float:
    return math.nan if value is None else float(value)
