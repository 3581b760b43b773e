"""One way to explain the targets of Q-learning, tried; and which of two is the better one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rldebug.forensics.robust_fit import Fitted
from rldebug.forensics.target_formula import mistake_of
from rldebug.forensics.target_rows import Flags

_GOOD = 0.9
_DECIDING = 8


@dataclass(frozen=True, eq=False)
class Tried:
    name: str
    changed: str
    fit: Fitted
    agree: Flags
    used: Flags
    entropy: float | None
    reward: float = 1.0
    logp: str = ""  # which one

    @property
    def mistake(self) -> str:
        return mistake_of(self.name)

    @property
    def gamma(self) -> float:
        return float(self.fit.coef[-1]) if len(self.fit.coef) else 0.0


def as_tried(name: str, changed: str, fit: Fitted, used: Flags, entropy: float | None, reward: float = 1.0) -> Tried:
    agree = np.zeros(len(used), dtype=bool)
    if fit:
        agree[used] = fit.agree
    return Tried(name, changed, fit, agree, used, entropy, reward)


def beats(new: Tried, old: Tried) -> bool:
    both = new.used & old.used
    more, less = int((both & new.agree & ~old.agree).sum()), int((both & old.agree & ~new.agree).sum())
    if new.mistake and new.fit.share < _GOOD:
        return False
    if new.mistake and not 0.0 < new.gamma < 1.02:
        return False
    return more >= max(_DECIDING, 0.02 * both.sum()) and more >= 9 * less
