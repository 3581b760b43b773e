"""Answers of a language model, as numbers: how likely each token was to whom, and what a loss does to it.

Everything here is told of single answers; `generations.jsonl` keeps one row for each. Masks, log-probs and gradients
are `(answers, places)`.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from rldebug.evidence.generations import FILE, FORMAT, plain

Floats = NDArray[np.float64]

_FIRST = 24  # rounds that are looked at, all of them
_GROWN = 1.1  # times as many rounds, until the next is looked at
_CUT = 0.01  # share of tokens without any chance, from which on a sampler has cut its distribution
_MOST = 40.0  # log-ratios are held within, so that exp() stays finite


def fingerprint(tokens: Sequence[int] | str) -> int:
    """A number for a sequence of tokens, or for a text; the same for the same, 48 bits."""
    raw = tokens.encode() if isinstance(tokens, str) else np.asarray(tokens, dtype=np.int64).tobytes()
    return int.from_bytes(blake2b(raw, digest_size=6).digest(), "big")


def generator_state(device: torch.device) -> int:
    """A number for the state of the generator that tokens are drawn with."""
    state = torch.cuda.get_rng_state(device) if device.type == "cuda" else torch.get_rng_state()
    return int.from_bytes(blake2b(state.numpy().tobytes(), digest_size=6).digest(), "big")


@contextmanager
def undisturbed(model: nn.Module, *, evaluating: bool = True) -> Iterator[None]:
    """Score with a network as if nobody had: in evaluation mode, or as it is, without a graph; modes and generators
    are put back."""
    modes = [(each, each.training) for each in model.modules()]
    devices = sorted({each.device.index or 0 for each in model.parameters() if each.device.type == "cuda"})
    with torch.random.fork_rng(devices=devices), torch.no_grad():
        if evaluating:
            model.eval()
        try:
            yield
        finally:
            for each, mode in modes:
                each.training = mode


# ── how they were drawn ──


class Draws:
    """What `torch.multinomial` drew while a batch was written, and how likely that was."""

    def __init__(self) -> None:
        self.broken = ""
        self._drawn: list[tuple[Tensor, Tensor, Tensor]] = []

    @contextmanager
    def listening(self) -> Iterator[Draws]:
        before = torch.multinomial

        def multinomial(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
            drawn = before(input, *args, **kwargs)
            if not self.broken:
                try:
                    self._listen(input, drawn)
                except Exception:
                    self.broken = traceback.format_exc()
            return drawn

        torch.multinomial = multinomial
        try:
            yield self
        finally:
            if torch.multinomial is multinomial:
                torch.multinomial = before

    def _listen(self, chances: Tensor, drawn: Tensor) -> None:
        if chances.dim() != 2 or drawn.shape != (len(chances), 1):
            return
        chances = chances.detach()
        likely = chances.gather(1, drawn)[:, 0] / chances.sum(1)
        zeros = (chances == 0).sum(1) / chances.shape[1]
        self._drawn.append((drawn[:, 0], likely.double().log(), zeros))

    @property
    def any(self) -> bool:
        return bool(self._drawn)

    def of(self, answers: Sequence[Sequence[int]]) -> tuple[list[Floats], list[bool]] | None:
        """The log-probs of the tokens of these answers, and whose distributions were cut; None where they were not
        drawn here, one place after another, all together."""
        drawn = [each for each in self._drawn if len(each[0]) == len(answers)]
        if not drawn or max(map(len, answers), default=0) > len(drawn):
            return None
        tokens, likely, zeros = (torch.stack(each, 1).cpu().numpy() for each in zip(*drawn, strict=True))
        for row, answer in zip(tokens, answers, strict=True):
            if row[: len(answer)].tolist() != list(answer):
                return None
        cut = [bool((row[: len(each)] > _CUT).any()) for row, each in zip(zeros, answers, strict=True)]
        return [row[: len(each)] for row, each in zip(likely, answers, strict=True)], cut


# ── what a loss does with them ──


def numbers(tensor: Any) -> Floats:
    return np.asarray(tensor.detach().double().cpu().numpy() if isinstance(tensor, Tensor) else tensor, dtype=float)


def mean_within(values: Floats, mask: NDArray[np.bool_]) -> Floats:
    """Of each row; NaN where the mask is empty."""
    count = mask.sum(1)
    return np.where(count > 0, np.where(mask, values, 0.0).sum(1) / np.maximum(count, 1), np.nan)


def k3(of: Floats, to: Floats) -> Floats:
    """An estimate of KL(of ‖ to), never below 0, for tokens drawn from the first (Schulman's third)."""
    difference = np.clip(to - of, -_MOST, _MOST)
    return np.asarray(np.expm1(difference) - difference)


def compared(ours: Floats, theirs: Floats, mask: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """For each answer, the mean size of the difference of two log-probs, and the estimate of the divergence."""
    mask = mask & np.isfinite(theirs)
    return mean_within(np.abs(ours - theirs), mask), mean_within(k3(theirs, ours), mask)


def pushed(gradient: Floats, mask: NDArray[np.bool_], away: Floats | None) -> dict[str, Floats]:
    """What the gradient at the log-probs says of each answer. `away`: 1 − exp(reference − policy), for each token."""
    size = np.abs(gradient)
    force = np.where(mask, size, 0.0).sum(1)
    last = np.array(
        [row[np.flatnonzero(within)[-1]] if within.any() else np.nan for row, within in zip(size, mask, strict=True)]
    )
    found = {
        "push": -np.where(mask, gradient, 0.0).sum(1),
        "force": force,
        "outside": np.where(mask, 0.0, size).sum(1),
        "last": np.where(force > 0, last * mask.sum(1) / np.where(force > 0, force, 1.0), np.nan),
    }
    if away is not None:
        found["hold"] = np.array([_together(*each) for each in zip(gradient, away, mask, strict=True)])
    return found


def _together(gradient: Floats, away: Floats, mask: NDArray[np.bool_]) -> float:
    """The correlation within the mask; NaN where one of them hardly changes."""
    x, y = gradient[mask], away[mask]
    if len(x) < 3 or np.ptp(y) < 1e-3 or np.ptp(x) <= 1e-6 * np.abs(x).max(initial=0.0):
        return float("nan")
    return float(np.corrcoef(x, y)[0, 1])


# ── on disk ──


class Answers:
    """`generations.jsonl`, written as the run goes on; and which rounds are looked at."""

    def __init__(self, folder: Path) -> None:
        self._file = (folder / FILE).open("a", encoding="utf-8")
        self.rounds = 0  # that were written, looked at or not
        self._next = 0.0

    def looks(self) -> bool:
        """Whether the round that begins now is looked at: all at first, then fewer and fewer."""
        self.rounds += 1
        if self.rounds <= _FIRST:
            return True
        self._next = max(self._next, _FIRST * _GROWN)
        if self.rounds < self._next:
            return False
        self._next = self.rounds * _GROWN
        return True

    def settings(self, settings: Mapping[str, Any], unseen: Sequence[str]) -> None:
        self._write({"kind": "settings", "format": FORMAT, "settings": dict(settings), "unseen": list(unseen)})

    def round(self, update: int, columns: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
        told = {name: plain(np.asarray(each)) for name, each in columns.items()}
        self._write({"kind": "round", "number": self.rounds, "update": update, "columns": told, "facts": _plain(facts)})

    def passed(self, update: int, age: int, columns: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
        told = {name: plain(np.asarray(each)) for name, each in columns.items()}
        line = {"kind": "pass", "round": self.rounds, "update": update, "age": age, "columns": told}
        self._write({**line, "facts": _plain(facts)})

    def step(self, logged: Mapping[str, float]) -> None:
        self._write({"kind": "step", "logged": _plain(logged)})

    def close(self, broken: Mapping[str, str] | None = None) -> None:
        for what, trace in (broken or {}).items():
            self._write({"kind": "broken", "what": what, "traceback": trace})
        self._file.close()

    def _write(self, line: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(line, allow_nan=False) + "\n")
        self._file.flush()


def _plain(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: plain(np.array([each]))[0] if isinstance(each, float) else each for name, each in facts.items()}
