"""What is asked of a live crash between processes: what was sent, who does not answer, what DDP waits for."""

from __future__ import annotations

import re
from types import FrameType
from typing import Any

from rldebug.evidence.crashes.sent import sent_of
from rldebug.evidence.crashes.workers import workers_of

_MOST = 12  # parameters that are named


def between_of(error: BaseException, levels: list[tuple[FrameType, int, int]]) -> dict[str, Any]:
    """`sent`, `workers`, `left_out`, each where there is something to tell. Never raises."""
    try:
        message = str(error)
        told = {
            "sent": sent_of(levels, message),
            "workers": list(workers_of(error)),
            "left_out": _left_out([frame for frame, _, _ in levels], message),
        }
    except Exception:  # half of a program that has failed
        return {}
    return {name: each for name, each in told.items() if each}


def _left_out(frames: list[FrameType], message: str) -> list[str]:
    """The parameters that got no gradient under DDP: the message has their places only."""
    found = re.search(r"did not receive grad for rank \d+: ([\d ]+)", message)
    for frame in frames if found else ():
        wrapped: Any = frame.f_locals.get("self")
        if found and type(wrapped).__name__ == "DistributedDataParallel" and hasattr(wrapped, "module"):
            trained = [name for name, each in wrapped.module.named_parameters() if each.requires_grad]
            places = [int(each) for each in found[1].split()]
            return [trained[each] for each in places if each < len(trained)][:_MOST]
    return []
