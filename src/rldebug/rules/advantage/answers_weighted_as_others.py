"""Answers are learned with the weights of other answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.token_advantages import Weighted, weighted
from rldebug.forensics.token_critic import returns_of_others, told
from rldebug.forensics.token_learned import row_weights
from rldebug.forensics.token_places import bare
from rldebug.forensics.token_rewards import tables
from rldebug.forensics.tokens import Round, rounds
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class AnswersWeightedAsOthers(Rule):
    """Answers are learned with the weights of other answers.

    ## What it checks
    The program holds one weight, or one row of weights, for each answer, in the order in which it holds the answers.
    In the loss an answer stands beside a row of another one. Or: the advantages of the answers to a prompt are exactly
    what their rewards make, but in another order.

    ## Why it matters
    Good answers are made less likely and bad ones more: the model is pushed at random.

    ## Likely causes
    1. The minibatch takes sequences by an index, and advantages by a slice. Confirm: look whether every tensor of the
       loss is taken with the same index.
    2. Rewards or advantages were shuffled, or sorted, apart from the answers. Confirm: print an answer beside its
       reward, in the update.

    ## What to try first
    Take everything that the loss needs with one index.

    ## When it is fine
    Never.

    ## References
    Bug kind ADV-10 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ADV378"
    name: ClassVar[str] = "answers-weighted-as-others"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "weighed"
    follows: ClassVar[tuple[str, ...]] = ("ADV370",)

    passes: int = 2  # or rounds
    share: float = 0.5  # of the answers that have the weight of another

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged, wrong = 0, []
        known = {id(table.round): table.held for table in tables(evidence)}
        for each in rounds(evidence):
            for where, name, share in _mismatched(each, known.get(id(each), ())):
                judged += 1
                if share >= self.share:
                    wrong.append((where, f"the row of another answer in `{name}` for {share:.0%} of the answers"))
        mixed = [found for one in weighted(evidence) if (found := _in_another_order(one)) is not None]
        if judged < self.passes and len(mixed) < self.passes:
            raise NotEnough(f"{judged} passes whose weights the program holds for each answer, needs {self.passes}")
        shuffled = [each for each in mixed if each[0]]
        if len(wrong) < max(self.passes, 0.3 * judged):
            wrong = []
            if len(shuffled) >= max(self.passes, 0.9 * len(mixed)):
                one, name = shuffled[0][1:]
                wrong = [
                    (one.passes[0].call.where, f"what `{name}` makes of the answers to a prompt, in another order")
                ]
        if not wrong:
            crossed = list(_drawn_to_others(evidence))
            if len(crossed) >= self.passes:
                wrong = crossed
        for where, seen in wrong[:1]:
            yield self.finding(
                "answers are learned with the weights of other answers",
                where=where,
                seen=seen,
                expected="the weight of an answer beside its own tokens",
                help="take tokens, log-probs and advantages with one and the same index",
                confidence=0.94,
            )


def _mismatched(each: Round, matrices: Sequence[tuple[str, NDArray[np.float64]]]) -> Iterator[tuple[Any, str, float]]:
    """Passes whose weights are rows of a variable of the program: which share of them is that of another answer."""
    if len(each.writings) != 1:
        return
    tokens = each.writings[0].tokens
    if not _in_order(each, tokens):
        return
    held = [
        (name, array.reshape(len(array), -1).astype(np.float64))
        for name, array in each.held
        if len(array) == len(tokens) and array.dtype.kind == "f" and array.size in (len(tokens), tokens.size)
    ]
    held = [(name, array) for name, array in held if np.isfinite(array).all()] + list(matrices)
    for one in each.passes:
        weights = row_weights(each, one)
        if weights is None:
            continue
        seen = one.rows >= 0
        written = np.arange(weights.shape[1])[None, :] < one.length[:, None]
        shares: list[tuple[float, str]] = []
        for name, table in held:
            alike = np.where(written, weights, weights[:, :1])
            own = weights[:, :1] if table.shape[1] == 1 and np.ptp(alike, axis=1).max() < 1e-6 else weights
            if own.shape[1] != table.shape[1] or len(np.unique(table, axis=0)) < 0.5 * len(table):
                continue
            counted = written if own.shape[1] > 1 else np.ones_like(own, dtype=bool)
            for sign in (1.0, -1.0):
                far = np.where(counted[:, None, :], np.abs(sign * own[:, None, :] - table[None]), 0.0).max(axis=2)
                close = 1e-5 * max(1.0, float(np.abs(table).max()))
                if (far[seen].min(axis=1) <= close).all():
                    shares.append((float((far[seen, one.rows[seen]] > close).mean()), name))
                    break
        if shares:
            share, name = min(shares)
            yield one.call.where, name, share


def _drawn_to_others(evidence: Script) -> Iterator[tuple[Any, str]]:
    """Rounds in which the critic learns a variable of the program, in rows of other answers."""
    for table in tables(evidence):
        for each in (one for one in told(evidence) if one.round is table.round):
            shares = [(returns_of_others(each, returns), name) for name, returns in table.held]
            known = [(share, name) for share, name in shares if share is not None]
            if known and min(known)[0] > 0.5:
                yield each.critic.call.where, f"the critic learns the row of another answer in `{min(known)[1]}`"


def _in_order(each: Round, tokens: NDArray[np.int64]) -> bool:
    """Whether the program holds the answers as they were written, and nowhere in another order."""
    found = False
    prompts = each.writings[0].prompts
    asked = bare(prompts) if prompts is not None and prompts.min() < 0 else []
    for _, array in each.held:
        if asked and array.ndim == 2 and len(array) == len(asked):  # of different lengths
            found |= all(tuple(row[: len(own)]) == own for row, own in zip(array.tolist(), asked, strict=True))
        if array.ndim != 2 or array.dtype.kind not in "iu" or len(array) != len(tokens):
            continue
        for start in range(array.shape[1] - tokens.shape[1] + 1):
            part = array[:, start : start + tokens.shape[1]]
            if np.array_equal(part[:, 0], tokens[:, 0]):
                found |= float((part == tokens).mean()) > 0.3
            elif np.array_equal(np.sort(part[:, 0]), np.sort(tokens[:, 0])):
                return False
    return found


def _in_another_order(each: Weighted) -> tuple[bool, Weighted, str] | None:
    """Whether the advantages of every group are what some number makes of its answers, in order or in another one."""
    for name, values in each.others:
        straight = crossed = 0
        for one in np.unique(each.groups):
            x, y = values[each.groups == one], each.advantage[each.groups == one]
            if len(x) < 3 or min(np.ptp(x), np.ptp(y)) < 1e-9:
                continue
            ordered, own = _line(np.sort(x), np.sort(y)), _line(x, y)
            if not ordered:
                break
            straight += own
            crossed += not own
        else:
            if straight + crossed >= 3:
                return crossed > straight, each, name
    return None


def _line(x: NDArray[np.float64], y: NDArray[np.float64]) -> bool:
    slope, rest = np.polyfit(x, y, 1)
    return bool(slope > 0 and np.abs(slope * x + rest - y).max() < 1e-3 * float(np.ptp(y)))
