"""Logs as other libraries write them, small and by hand."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter

Scalars = Iterable[tuple[str, int, float]]
BLOCK, HEADER = 32768, b":W&B\xe1\xbe\x00"


def tensorboard(folder: Path, scalars: Scalars, *, settings: Mapping[str, object] = {}, began: float = 1e9) -> Path:
    """An event file by TensorBoard's own writer. Times are made up, one second apart."""
    from tensorboard.plugins.text.summary_v2 import text_pb

    writer = EventFileWriter(str(folder), filename_suffix=f".{began:.0f}")
    if settings:
        rows = "\n".join(f"|{name}|{value}|" for name, value in settings.items())
        table = text_pb("hyperparameters/text_summary", f"|param|value|\n|-|-|\n{rows}")
        writer.add_event(Event(wall_time=began, step=0, summary=table))
    for at, (tag, step, value) in enumerate(scalars):
        summary = Summary(value=[Summary.Value(tag=tag, simple_value=value)])
        writer.add_event(Event(wall_time=began + at, step=step, summary=summary))
    writer.close()
    return folder


def cleanrl(
    lines: int = 120, *, rises: bool = True, seed: int = 0, **other: Sequence[float]
) -> list[tuple[str, int, float]]:
    """What CleanRL's ppo.py logs on CartPole: single episodes as they end, then a line for each iteration."""
    random = np.random.default_rng(seed)
    scalars = []
    for line in range(lines):
        done = line / lines
        start = line * 512
        for end in sorted(random.integers(1, 512, 6).tolist()):
            length = float(np.round(random.gamma(6, (20 + 180 * done * rises) / 6) + 8))
            scalars += [
                ("charts/episodic_return", start + end, length),
                ("charts/episodic_length", start + end, length),
            ]
        step = start + 512
        for tag, value in {
            "charts/learning_rate": 2.5e-4 * (1 - done),
            "losses/value_loss": 40.0 * random.uniform(0.5, 1),
            "losses/policy_loss": -0.01 * random.normal(),
            "losses/entropy": 0.692 - 0.2 * done,
            "losses/old_approx_kl": 0.004 * random.normal(),
            "losses/approx_kl": 0.004 * random.uniform(0.5, 1),
            "losses/clipfrac": 0.05 * random.uniform(0.5, 1),
            "losses/explained_variance": 0.1 + 0.8 * done,
            "charts/SPS": 3000.0,
        }.items():
            scalars.append((tag, step, other[tag.split("/")[1]][line] if tag.split("/")[1] in other else value))
    return scalars


def progress_csv(lines: int = 60, **other: Sequence[object]) -> str:
    """Stable-Baselines3's table: on the first line nothing was trained yet."""
    columns: dict[str, list[object]] = {
        "rollout/ep_rew_mean": [20.0 + 3 * i for i in range(lines)],
        "time/total_timesteps": [2048 * (i + 1) for i in range(lines)],
        "rollout/ep_len_mean": [20.0 + 3 * i for i in range(lines)],
        "time/fps": [1500 - i for i in range(lines)],
        "train/entropy_loss": [-0.688 + 0.003 * i for i in range(lines)],
        "train/explained_variance": [0.01 * i for i in range(lines)],
        "train/n_updates": [10 * i for i in range(lines)],
        "train/approx_kl": [0.008] * lines,
        "train/clip_fraction": [0.1] * lines,
        "train/value_loss": [40.0] * lines,
        "train/policy_gradient_loss": [-0.01] * lines,
        "train/clip_range": [0.2] * lines,
        "time/time_elapsed": [i + 1 for i in range(lines)],
    }
    columns |= {f"train/{name}": list(values) for name, values in other.items()}
    for name, values in columns.items():
        if name.startswith("train/"):
            values[0] = ""
    return (
        "\n".join([",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]) + "\n"
    )


def wandb_file(path: Path, messages: Iterable[bytes]) -> Path:
    """Messages in LevelDB's log format, as wandb writes them: cut where a block ends."""
    data = bytearray(HEADER)
    for message in messages:
        rest, first = message, True
        while first or rest:
            left = BLOCK - len(data) % BLOCK
            if left < 7:
                data += bytes(left)
                left = BLOCK
            part, rest = rest[: left - 7], rest[left - 7 :]
            kind = 1 if first and not rest else 2 if first else 3 if rest else 4
            data += struct.pack("<IHB", zlib.crc32(part, zlib.crc32(bytes([kind]))), len(part), kind) + part
            first = False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(data))
    return path
