"""What a campaign is made of: tasks that have a key, and what becomes of one that cannot be done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

RETRIES = 2  # of a task whose worker died: another may have used up the memory


class Keyed(Protocol):
    @property
    def key(self) -> str:
        """The same for the same question: its result is looked up by it."""


@dataclass(frozen=True)
class Failed:
    """In place of a result."""

    reason: str


Work = Callable[[Any, bool], Any]
"""Takes a task, and whether it may fork; gives a result. Task, result and function can be pickled."""

Spread = Callable[[Work, Iterable[Any]], Iterator[tuple[Any, Any]]]
"""Puts tasks on workers, and gives each back with its result, or with Failed: `campaign.pool` does it on this machine,
`integrations.ray` on a cluster."""


def said(error: BaseException) -> str:
    """In one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())
