"""An embedding is asked for an entry that it does not have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import fed_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class IndexBeyondEmbedding(Rule):
    """An embedding is asked for an entry that it does not have.

    ## What it checks
    An embedding refused its input: an index is beyond its last row, negative, or no integer.

    ## Why it matters
    An embedding has one row for each state, token or agent; the observation holds another.

    ## Likely causes
    1. The embedding was made for another number of states. Confirm: compare `num_embeddings` with
       `env.observation_space.n`.
    2. Padding is -1, or states are counted from 1. Confirm: print the smallest and the greatest index.
    3. The index comes as float32 with the other observations. Confirm: print its dtype.

    ## What to try first
    Print the smallest and the greatest index, and `num_embeddings`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.nn.Embedding`.
    """

    code: ClassVar[str] = "PRE432"
    name: ClassVar[str] = "index-beyond-embedding"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        beyond = evidence.says("index out of range in self") and evidence.inside(
            "torch.nn.modules.sparse", "torch.nn.functional"
        )
        return beyond or evidence.says(r"while checking arguments for embedding")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        weight = (evidence.layer or {}).get("weight")
        rows = f"; it has {weight['shape'][0]} rows" if weight else ""
        yield self.finding(
            "an embedding was asked for an entry that it does not have",
            where=evidence.where,
            seen=f"{evidence.said}{fed_told(evidence)}{rows}",
            expected=f"indices from 0 to {weight['shape'][0] - 1}" if weight else "indices below num_embeddings",
            help="make the embedding for env.observation_space.n entries, give padding a row of its own, and pass "
            "indices as int64",
            confidence=0.9,
        )
