from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from rldebug.commands import main
from rldebug.evidence.run import Run, encode

COLLAPSED = {
    "policy/entropy_rel": [0.99, 0.6, 0.2] + [0.01] * 60,
    "episode/return_mean": [9.0, 10.0, 9.5] * 21,
}
SOUND = {
    "policy/entropy_rel": [0.99 - 0.005 * i for i in range(63)],
    "episode/return_mean": [10.0 + min(3 * i, 100) for i in range(63)],
}


def write_run(folder: Path, numbers: dict[str, list[float]], **meta: object) -> Path:
    """A run folder as the recorder writes it."""
    run = Run.from_series(numbers)
    folder.mkdir(parents=True)
    about = {"format": 1, "name": folder.name, "seed": 1, "versions": {"torch": "2.4.0"}, **meta}
    (folder / "run.json").write_text(json.dumps(about), encoding="utf-8")
    lines = "".join(encode(each) + "\n" for each in run.readings)
    (folder / "readings.jsonl").write_text(lines, encoding="utf-8")
    return folder


@dataclass
class Said:
    status: int
    out: str
    err: str


@pytest.fixture
def rldebug(capsys, monkeypatch):
    """Calls the command line in this process."""
    monkeypatch.delenv("COLUMNS", raising=False)

    def call(*arguments: object) -> Said:
        with pytest.raises(SystemExit) as left:
            main([str(each) for each in arguments])
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return Said(left.value.code or 0, said.out, said.err)

    return call


@pytest.fixture
def sick():
    return write_run(Path(".rldebug/runs/sick"), COLLAPSED)


@pytest.fixture
def sound():
    return write_run(Path(".rldebug/runs/sound"), SOUND)
