"""The actions of the loss are not those that were executed in the states beside them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.roles import known_rows
from rldebug.forensics.translated import meant, translation
from rldebug.rule import NotEnough, Rule

_CLEAN = 0.005  # share of rows of one part of a batch that differ, at most
_MADE_UP = 0.3  # and of the other part, at least
_ROWS = 100  # of the one part that are known


@dataclass(frozen=True, kw_only=True)
class TrainedActionNotExecuted(Rule):
    """The actions of the loss are not those that were executed.

    ## What it checks
    Each row of a loss is traced back to the observation it came from, and the discrete action that
    the loss chooses there (the index of its gather) is compared with the action that was given to the environment
    from that observation. Observations that occurred more than once are left out. Exact.

    ## Why it matters
    The reward is credited to an action that was not taken: the policy learns from pairs that never happened.

    ## Likely causes
    1. States and actions are stored one step apart. Confirm: print both for the first three steps of an episode.
    2. The action is sampled again when it is stored, or changed before it is executed (an exploration step is
       executed, the greedy action is stored). Confirm: compare what is stored with what is given to `step`.
    3. Rows are flattened in another order than actions, time first here and environments first there. Confirm: compare
       the shapes before the reshape.

    ## What to try first
    Store exactly the object that is given to `env.step`, in the same line.

    ## When it is fine
    Where a table or an offset stands between the two, and each number of the one always means the same of the other.
    Rows that a model dreamed up, in a part of each batch that is theirs, are left out.
    Losses that are taken over all actions, or over actions of the current policy, choose no action and are not counted.

    ## References
    bench/bugs/corpus: notebook_dqn, chosen-action-not-sent.
    """

    code: ClassVar[str] = "ACT300"
    name: ClassVar[str] = "trained-action-not-executed"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "acted"
    follows: ClassVar[tuple[str, ...]] = ("BUF300", "BUF301", "BUF306", "BUF316", "BUF342")

    rows: int = 64  # that can be compared, in all
    known: float = 0.95  # share of a batch's rows that are observations as they were seen
    wrong: float = 0.05  # share of them that may differ: a row may be found at the wrong one of two equal observations

    def check(self, evidence: Script) -> Iterator[Finding]:
        compared = differing = 0
        worst = None
        pairs: list[tuple[np.ndarray, np.ndarray]] = []
        sizes: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {}  # of a batch: where in it, and whether it differs
        for audit, term in evidence.events("term"):
            index = term.arrays.get("index")
            ids = term.arrays.get("rows")
            if index is None or ids is None or len(index) != len(ids) or term["kind"] not in ("policy", "regression"):
                continue
            if (ids >= 0).mean() < self.known:
                continue  # rows that were made up (another goal, a model's dream) may look like one that occurred
            keep = known_rows(audit, term)
            places = audit.nodes.index(ids[keep])
            done = audit.nodes.acted[places] & ~audit.nodes.phantom[places]
            if audit.nodes.action.shape[1] != 1:
                continue
            executed = audit.nodes.action[places, 0][done]
            chosen = np.asarray(index, dtype=np.float64)[keep][done]
            pairs.append((chosen, executed))
            sizes.setdefault(len(ids), []).append((np.arange(len(ids))[keep][done], executed != chosen))
            compared += len(chosen)
            missed = int((executed != chosen).sum())
            differing += missed
            if missed and worst is None:
                worst = term
        if compared < self.rows:
            raise NotEnough(f"{compared} rows of losses could be traced to a discrete action")
        if worst is not None and differing > self.wrong * compared:
            table = translation(*(np.concatenate(each) for each in zip(*pairs, strict=True)))
            if table is not None and meant(evidence, table):
                return
            if _in_one_part(*(np.concatenate(each) for each in zip(*max(sizes.values(), key=len), strict=True))):
                return
            yield self.finding(
                "the loss is computed for actions that were not executed",
                where=worst.where,
                seen=f"another action than the executed one in {differing} of {compared} rows",
                expected="the action that was given to env.step from that observation",
                help="store the action that is given to env.step beside the observation it was chosen from",
                confidence=0.97,
            )


def _in_one_part(place: np.ndarray, differs: np.ndarray) -> bool:
    """Whether all that differs stands at one end of each batch: rows that were made up (a model's dream) are put beside
    those that were remembered, from observations that occurred."""
    seen = np.bincount(place).astype(np.float64)
    wrong = np.bincount(place, weights=differs)
    for rows, missed in ((seen, wrong), (seen[::-1], wrong[::-1])):
        before, right = rows.cumsum(), missed.cumsum()
        cuts = np.arange(1, len(rows) + 1)
        clean = (before >= _ROWS) & (right <= _CLEAN * before) & (cuts >= len(rows) / 4) & (cuts <= len(rows) * 7 / 8)
        with np.errstate(invalid="ignore", divide="ignore"):
            beyond = (missed.sum() - right) / (rows.sum() - before)
        if (clean & (beyond >= _MADE_UP)).any():
            return True
    return False
