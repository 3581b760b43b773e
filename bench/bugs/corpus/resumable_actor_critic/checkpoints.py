import os
from typing import Optional

import torch


def checkpoint_files(folder: str) -> list[str]:
    return sorted(name for name in os.listdir(folder) if name.endswith(".pt"))


def save_checkpoint(folder: str, iteration: int, content: dict) -> str:
    """Writes the new file completely before the older one goes."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"iteration_{iteration:05d}.pt")
    torch.save(content, path + ".part")
    os.replace(path + ".part", path)
    for name in checkpoint_files(folder)[:-1]:
        os.remove(os.path.join(folder, name))
    return path


def load_latest(folder: str) -> Optional[dict]:
    if not os.path.isdir(folder) or not checkpoint_files(folder):
        return None
    return torch.load(os.path.join(folder, checkpoint_files(folder)[-1]), map_location="cpu")
