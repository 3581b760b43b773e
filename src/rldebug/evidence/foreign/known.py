"""Which names of a log stand for which readings of ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from rldebug.evidence.foreign.log import Column, Log
from rldebug.evidence.tags import ENV_STEPS, UPDATES, Tag, ours

SECONDS = ("time/time_elapsed", "_runtime", "time_elapsed", "time")
_ASIDE = ("_step", "_timestamp", "_wandb", "epoch", "time/iterations", "iteration", "iterations")
_SINGLE = ("episodic_return", "episodic_length", "charts/episode_reward", "charts/episode_length")
_VALUES = ("qf", "q_loss", "q_value", "qvalue", "lossq", "td_loss", "critic_loss")  # of actions
_OFF_POLICY = (*_VALUES, "alpha", "ent_coef", "epsilon", "exploration_rate")


@dataclass(frozen=True)
class Known:
    """A tag that stands for a reading of ours, with its values converted."""

    tag: str
    column: Column

    @property
    def single(self) -> bool:
        """Whether each number is of one episode, and not a mean of several."""
        return ends_with(self.tag, _SINGLE)


def known_in(log: Log) -> tuple[dict[str, Known], list[str]]:
    """By our name the tag that stands for it, of several the one that the table prefers; and what nobody knows."""
    choices: dict[str, list[tuple[int, int, str, Tag]]] = {}
    for tag in log.columns:
        for row in ours(tag):
            spellings = [each.lower() for each in row.spellings]
            place = next((at for at, each in enumerate(spellings) if ends_with(tag, (each,))), len(spellings))
            choices.setdefault(row.ours, []).append((place, len(tag), tag, row))
    known = {}
    for name, each in choices.items():
        _, _, tag, row = min(each, key=lambda choice: choice[:3])
        column = log.columns[tag]
        value = np.array([row.to_ours(number) for number in column.value.tolist()], dtype=np.float64)
        known[name] = Known(tag, Column(column.step, column.seconds, value))
    understood = {choice[2] for each in choices.values() for choice in each}
    aside = (*_ASIDE, *SECONDS, *ENV_STEPS, *UPDATES)
    return known, sorted(tag for tag in log.columns if tag not in understood and not ends_with(tag, aside))


def may_be_off_policy(tags: Iterable[str]) -> bool:
    """Whether the names are of an algorithm that learns action values, or of none at all."""
    names = [tag.lower().rpartition("/")[2] for tag in tags]
    told = any("loss" in each or "entropy" in each or "kl" in each for each in names)
    return not told or any(word in each for each in names for word in _OFF_POLICY)


def find_column(columns: Mapping[str, Column], spellings: Iterable[str]) -> Column | None:
    """The column with the first of these names that there is."""
    return next((columns[tag] for each in spellings for tag in sorted(columns) if ends_with(tag, (each,))), None)


def ends_with(tag: str, spellings: Iterable[str]) -> bool:
    """Whether a tag is one of these names, with something before it or not. Case does not matter."""
    whole = f"/{tag.strip().strip('/').lower()}"
    return any(whole.endswith(f"/{each.lower()}") for each in spellings)
