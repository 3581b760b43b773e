"""A Q-learner that keeps the weights with the best score, and loads them at the end."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.programs.kept import learner

FAULTS = {"lowest-kept": "CKP455", "target-saved": "CKP454", "first-observation": "EVA456"}


def program(fault: str = "") -> None:
    with tempfile.TemporaryDirectory() as folder:
        learner(
            [3.0, 4.0, 2.0, 5.0, 1.0],
            Path(folder),
            keep="lowest" if fault == "lowest-kept" else "highest",
            saved="slow" if fault == "target-saved" else "online",
            stale=fault == "first-observation",
            tests=3,
        )
