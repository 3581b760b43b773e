"""Whether a network has drawn numbers: the states of torch's own generators, before and after."""

from __future__ import annotations

import torch

_CPU = torch.default_generator.get_state


def random_state() -> tuple[bytes, int]:
    """Never the same again once a number was drawn. Nothing is drawn by asking, and nothing waits for the device."""
    try:
        state = _CPU().numpy().tobytes()
    except Exception:  # tensors are something else here, as in torch's own tracing
        state = b""
    return state, _on_device()


def _on_device() -> int:
    try:
        if not torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
            return 0
        return int(torch.cuda.default_generators[torch.cuda.current_device()].get_offset())
    except Exception:  # a graph is being captured, or torch is an older one
        return 0
