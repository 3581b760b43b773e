"""The file that a training run is resumed from: where it lies, how it is read, and what is random in it."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

FORMAT = 1


class TrainingError(Exception):
    """A run that cannot start or go on: says what was expected."""


def read_checkpoint(folder: Path, rank: int = 0) -> dict[str, Any]:
    path = folder / checkpoint_name(rank)
    if not folder.is_dir():
        raise TrainingError(f"{folder} is not a folder: expected the folder of a run, as `rldebug train` printed it")
    if not path.is_file():
        raise TrainingError(f"{folder} holds no {path.name}: nothing was saved there")
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        version = state["format"]
    except Exception as error:
        raise TrainingError(
            f"{path} cannot be read ({type(error).__name__}); it is damaged, or not a checkpoint"
        ) from error
    if version != FORMAT:
        raise TrainingError(
            f"{path} is of format {version}, expected {FORMAT}: it was written by another version of rldebug"
        )
    return state


def checkpoint_name(rank: int) -> str:
    return "checkpoint.pt" if rank == 0 else f"checkpoint-{rank}.pt"


def random_state(device: torch.device) -> dict[str, Any]:
    legacy: Any = np.random.get_state(legacy=True)
    kind, keys, position, has_gauss, gauss = legacy
    python = random.getstate()
    return {
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state(device) if device.type == "cuda" else None,
        "numpy": [str(kind), torch.from_numpy(keys.astype(np.int64)), int(position), int(has_gauss), float(gauss)],
        "python": [python[0], list(python[1]), python[2]],
    }


def set_random_state(state: Mapping[str, Any], device: torch.device) -> None:
    torch.set_rng_state(state["torch"])
    if state["cuda"] is not None and device.type == "cuda":
        torch.cuda.set_rng_state(state["cuda"], device)
    kind, keys, *rest = state["numpy"]
    np.random.set_state((kind, keys.numpy().astype(np.uint32), *rest))
    version, internal, gauss = state["python"]
    random.setstate((version, tuple(internal), gauss))
