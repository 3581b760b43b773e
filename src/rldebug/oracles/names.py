"""Which quantity an argument's name means: names of the common codebases, and what people put before and after them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from rldebug.oracles.oracle import Quantity

_BEFORE = ("batch_", "b_", "mb_", "minibatch_", "mini_batch_", "buf_", "sampled_", "curr_", "current_", "all_", "arr_")
_AFTER = tuple(
    f"_{part}"
    for part in (
        *("batch", "b", "mb", "buf", "buffer", "t", "tensor", "tensors", "arr", "array", "list", "seq", "seqs", "np"),
        *("window", "history", "hist", "traj", "trajectory", "vec", "data"),
    )
)

_BAGS = """
    self batch data sample samples transition transitions args cfg config conf params hparams hp opt opts options
    settings agent buffer rollout rollouts storage minibatch mini_batch mb experience experiences exp memory traj
    trajectory episode td tensordict algo policy_kwargs train_data rollout_data replay_data batch_data
    kwargs hyperparams hyperparameters arguments
"""
BAGS = frozenset(_BAGS.split())
"""Arguments that hold the others: their attributes and items are bound instead."""


@cache
def plain(name: str) -> str:
    """`_batchRewards` and `batch_rewards` are the same: lower case, words joined by _, none at the ends."""
    joined = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"_+", "_", joined).strip("_").lower()


def forms(name: str) -> Iterator[str]:
    """The name as it is, then without what people put around it; each also without its plural s."""
    seen: set[str] = set()
    ahead = [plain(name)]
    while ahead:
        each = ahead.pop(0)
        if not each or each in seen:
            continue
        seen.add(each)
        yield each
        if len(each) > 2 and each.endswith("s") and not each.endswith("ss"):
            ahead.append(each[:-1])
        ahead += [each.removeprefix(part) for part in _BEFORE if each.startswith(part)]
        ahead += [each.removesuffix(part) for part in _AFTER if each.endswith(part)]


def meant(name: str, quantities: Iterable[Quantity]) -> list[Quantity]:
    """The quantities an argument of this name may be, likeliest first; empty where nobody calls anything so."""
    known = [(each, _words(each.names)) for each in quantities]
    for form in forms(name):
        found = [each for each, words in known if form in words]
        if found:
            return found
    return []


@cache
def _words(names: str) -> frozenset[str]:
    words: set[str] = set()
    for each in names.split():
        words |= {plain(each), plain(each).removesuffix("s") if len(each) > 3 else plain(each)}
    return frozenset(words)
