from __future__ import annotations

import contextlib
import json
import threading
from pathlib import Path

import httpx
import pytest

from rldebug.dashboard import serve as serving
from rldebug.dashboard.judging import JudgeError
from rldebug.evidence.run import Run, encode

COLLAPSED = {"policy/entropy_rel": [0.99, 0.6, 0.2] + [0.01] * 60, "episode/return_mean": [9.0, 10.0, 9.5] * 21}
SOUND = {
    "policy/entropy_rel": [0.99 - 0.005 * i for i in range(63)],
    "episode/return_mean": [10.0 + min(3 * i, 100) for i in range(63)],
}


def write_run(folder: Path, numbers=COLLAPSED, **meta) -> Path:
    folder.mkdir(parents=True)
    about = {"format": 1, "name": folder.name, "state": "finished", "started": "2026-01-01T00:00:00+0000", **meta}
    (folder / "run.json").write_text(json.dumps(about), encoding="utf-8")
    append(folder, numbers)
    return folder


def append(folder: Path, numbers=COLLAPSED) -> None:
    with (folder / "readings.jsonl").open("a", encoding="utf-8") as file:
        file.writelines(encode(each) + "\n" for each in Run.from_series(numbers).readings)


class Unable:
    """A judge that has nothing to say."""

    reason = "nobody is there"

    def __init__(self):
        self.asked = []

    def ask(self, folder):
        self.asked.append(folder.name)
        raise JudgeError(self.reason)

    def tidy(self):
        pass

    def close(self):
        pass


@contextlib.contextmanager
def served(place):
    """A real server, with a client that has its token."""
    done = threading.Event()
    thread = threading.Thread(
        target=serving.serve, args=(place,), kwargs={"browser": False, "until": lambda _: done.is_set()}
    )
    thread.start()
    base, headers = f"http://127.0.0.1:{place.port}", {"Authorization": f"Bearer {place.token}"}
    try:
        with httpx.Client(base_url=base, headers=headers, timeout=10, trust_env=False) as client:
            yield client
    finally:
        done.set()
        thread.join()


@pytest.fixture
def unable(monkeypatch):
    judge = Unable()
    monkeypatch.setattr("rldebug.dashboard.desk.Judging", lambda: judge)
    return judge


@pytest.fixture
def root():
    return Path(".rldebug/runs")
