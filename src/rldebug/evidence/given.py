"""What a user's file says: a name that is given a value, and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class HyperparametersError(Exception):
    """The file could not be read, or there is nothing to hold it against; the message says why."""


@dataclass(frozen=True)
class Given:
    """One place in the user's file that gives a name a value."""

    name: str  # with its way where it has one: train.gamma, args.lr
    value: Any
    line: int
    holder: str = ""  # what it stands in: a class, a call, a table; names in one holder explain each other
    listed: bool = True  # whether it is worth a line when nothing corresponds to it: not so for local variables


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
