"""The tensors that lay where a program failed: all that can be shown of an error that nobody knows."""

from __future__ import annotations

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.facts import Fact
from rldebug.evidence.crashes.signs import told

_MOST = 4


def tensors_of(crash: Crash) -> dict[str, Fact]:
    """Those in the user's innermost frame, the ones in the failing line first."""
    facts = crash.at.facts if crash.at is not None else {}
    return {
        name: fact for name, fact in {**crash.operands(), **facts}.items() if fact.get("kind") in ("tensor", "array")
    }


def tensors_told(crash: Crash) -> str:
    """`; obs is (2, 4) float32, logp is (2,) float32 with a graph`, or nothing."""
    tensors = tensors_of(crash)
    shown = [f"{name} is {told(fact)}" for name, fact in list(tensors.items())[:_MOST]]
    more = f" and {len(tensors) - _MOST} more" if len(tensors) > _MOST else ""
    return f"; {', '.join(shown)}{more}" if shown else ""
