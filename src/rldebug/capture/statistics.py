"""Running statistics of batch normalisation. No parameters, and easily left out when weights are copied."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _NormBase

from rldebug.capture.norms import plain


def statistics(module: nn.Module) -> Tensor | None:
    """Running means and variances of its batch normalisation, as one vector: no parameters, and easily forgotten."""
    found = [
        each.detach().reshape(-1).to("cpu", torch.float32)
        for part in module.modules()
        if isinstance(part, _NormBase)
        for each in (part.running_mean, part.running_var)
        if each is not None and plain(each)
    ]
    return torch.cat(found) if found else None


def compared(name: str, norms: Mapping[str, Tensor]) -> dict[str, Any]:
    own = norms.get(name)
    if own is None:
        return {}
    size = float(own.norm())
    return {
        "statistics": {
            "fingerprint": f"{zlib.crc32(own.numpy().tobytes()):08x}",
            "distance": {
                other: float((each - own).norm()) / size if size else None
                for other, each in norms.items()
                if other != name and each.shape == own.shape
            },
        }
    }
