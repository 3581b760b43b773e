"""What the user's names mean: by the table of synonyms, the algorithm, and the names around them.

A false match misleads more than a missing one helps: a name that could mean several things is matched only where the
algorithm, or the names around it, leave one meaning.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rldebug.evidence.given import Given, is_number
from rldebug.evidence.synonyms import AMBIGUOUS, FIELDS, concept_of_field, concepts, plain_name
from rldebug.evidence.verdict import same

_ALGORITHMS = frozenset({"vpg", "a2c", "a3c", "dqn", "ppo", "trpo", "sac", "ddpg", "td3", "c51", "impala", "acktr"})

# Names of things that are not hyperparameters of an algorithm.
_NOT_ONES = re.compile(
    r"(^|_)(seed|cuda|gpu|device|track|video|wandb|verbose|log|logging|save|saving|eval|evaluation|print|render|port|test|"
    r"checkpoint|version|workers?|cpus?|debug|plot|resume|rank|retries|fps|display|report|dim|ep|episodes?|threshold)(_|$)"
)

# Concepts that are never none, off or 0: there, that is a place for what is worked out later.
_SIZES = re.compile("rollout_(steps|total)|epochs|(n_)?minibatch(es)?|batch|buffer|n_envs|hidden|lr|discount|n_step")
_MOST = {"n_step": 100, "rollout_steps": 65_536}  # more are steps in all


@dataclass(frozen=True)
class Unmatched:
    """A value of the user's that is compared with nothing."""

    name: str
    value: Any
    line: int
    why: str  # empty where the reference simply has no such setting


def recognise(
    given: Sequence[Given], algorithm: str, fields: Collection[str]
) -> tuple[dict[str, list[Given]], list[Unmatched]]:
    """What the user gives, by what it means, each value once; and what is not recognised.

    `fields` are the names that the reference's own settings have.
    """
    known = concepts(algorithm)
    own: dict[str, set[str]] = {}  # names of the reference's, by holder
    for each in given:
        own.setdefault(each.holder, set()).update({plain_name(each.name)} & set(fields))
    rounds = any(plain_name(each.name) in ("steps_per_epoch", "step_per_epoch") for each in given)

    meant: list[tuple[Given, str, bool]] = []
    for each in given:
        name = plain_name(each.name)
        name = name if name in known else name.removeprefix(f"{algorithm}_")
        concept, sure = known.get(name, ("", False))
        if name in fields and len(own[each.holder] - {name}) >= 3:  # the names around it are ours: so is its meaning
            concept, sure = concept_of_field(name, algorithm), True
        elif name in fields and not concept and name not in AMBIGUOUS and name not in FIELDS:
            concept, sure = f"={name}", True
        elif rounds and name in ("epochs", "epoch"):
            concept = ""
        if _of_another_algorithm(each, algorithm) or _something_else(concept, each.value):
            concept = ""
        meant.append((each, concept, sure))

    certain = {concept for _, concept, sure in meant if concept and sure}
    recognised: dict[str, list[Given]] = {}
    strangers: list[Given] = []
    holders: set[str] = set()
    for each, concept, sure in sorted(meant, key=lambda item: item[0].line):
        if not concept or (not sure and concept in certain):
            strangers.append(each)
            continue
        holders.add(each.holder)
        if concept == "polyak" and is_number(each.value):  # what is kept, not what is replaced
            concept = "tau"
            each = replace(each, name=f"1 - {each.name}", value=round(1.0 - each.value, 12))
        places = recognised.setdefault(concept, [])
        if not any(same(each.value, other.value) for other in places):
            places.append(each)
    return recognised, _beside(strangers, holders)


def _of_another_algorithm(given: Given, algorithm: str) -> bool:
    """Whether it stands in the table, the class or the call of another algorithm."""
    words = {word for part in re.split(r"\W+", given.holder) for word in plain_name(part).split("_")}
    return bool(words & _ALGORITHMS) and algorithm not in words


def _something_else(concept: str, value: Any) -> bool:
    """Whether a value shows that the name means something else, or nothing yet."""
    if concept == "epsilon_steps":  # a decay factor
        return not is_number(value) or value <= 1
    if _SIZES.fullmatch(concept) and (
        value in (None, []) or isinstance(value, bool) or (is_number(value) and value <= 0)
    ):
        return True
    return is_number(value) and bool(value > _MOST.get(concept, math.inf))


def _beside(strangers: Iterable[Given], holders: set[str]) -> list[Unmatched]:
    """Numbers that stand beside hyperparameters, but are none that we know."""
    found: dict[tuple[str, Any], Unmatched] = {}
    for each in strangers:
        name = plain_name(each.name)
        beside = each.listed and each.holder in holders and len(name) > 1
        # A 0 is worked out later or turns something off.
        if beside and is_number(each.value) and each.value and not _NOT_ONES.search(name):
            why = AMBIGUOUS.get(name, "")
            found.setdefault((name, each.value), Unmatched(each.name, each.value, each.line, why))
    return list(found.values())
