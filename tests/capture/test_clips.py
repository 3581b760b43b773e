"""The agent seen playing: from the next episode on, until it is asked for again; and training goes on as without."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

from rldebug.capture.clip_writer import ClipWriter
from rldebug.capture.clips import Clips, Pace
from rldebug.capture.session import Session
from tests.capture.image_program import Pictures

PROGRAM = Path(__file__).parent / "image_program.py"
ROOT = Path(__file__).parents[2]


class Asked:
    """A toggle that is asked from within."""

    keys, due = None, 0.0
    file = Path("toggle-render")

    def __init__(self):
        self.now = self.closed = False

    def asked(self, now):
        asked, self.now = self.now, False
        return asked

    def close(self):
        self.closed = True


@pytest.fixture
def watched(tmp_path):
    session, said = Session(tmp_path), []
    clips = Clips(
        session.told, ClipWriter(tmp_path / "clips"), Asked(), lambda: {"env_step": session.log.steps}, said.append
    )
    clips.said, session.told = said, clips
    session.install()
    yield clips
    clips.finish()
    session.finish()
    assert not session.switch.broken


def index(clips):
    clips.finish()
    file = clips.writer.folder / "index.jsonl"
    return [json.loads(each) for each in file.read_text().splitlines()] if file.exists() else []


def play(env, steps):
    for _ in range(steps):
        _, _, terminated, truncated, _ = env.step(1)
        if terminated or truncated:
            env.reset()


def test_from_the_next_episode_to_the_end_of_the_one_under_way(watched):
    env = gym.wrappers.TimeLimit(Pictures(), 10)
    env.reset(seed=0)
    play(env, 5)
    watched.toggle.now = True
    play(env, 5)  # the rest of this one is not drawn
    play(env, 15)
    watched.toggle.now = True
    play(env, 40)  # the rest of this one is
    first, second = index(watched)
    assert (first["env_step"], second["env_step"]) == (10, 20)
    for line in (first, second):
        assert line["length"] == 10
        assert line["return"] == 10.0
        assert line["frames"] == 11
        assert line["ended"] == "truncated"
        assert line["env"] == "Pictures"
        assert line["fps"] == 20
    assert watched.said[0] == "rldebug: rendering from the next episode on (touching the file again stops it)"
    assert watched.said[-1] == "rldebug: rendering stops at the end of the episode"
    assert watched.toggle.closed


def test_an_episode_cut_by_the_end_of_the_program_is_kept(watched):
    env = Pictures()
    watched.toggle.now = True
    env.reset(seed=0)
    env.reset(seed=0)
    play(env, 3)
    (line,) = index(watched)
    assert (line["ended"], line["length"]) == ("stopped", 3)


@pytest.mark.parametrize("mode", list(gym.vector.AutoresetMode)[:2])
def test_the_first_of_a_vector_however_it_is_reset(mode, watched):
    envs = gym.vector.SyncVectorEnv([Pictures] * 2, autoreset_mode=mode)
    envs.reset(seed=[0, 1])
    lengths = []
    watched.toggle.now = True
    for _ in range(120):
        at = envs.envs[0].at
        _, _, terminated, _, _ = envs.step(np.ones(2, dtype=int))
        if terminated[0]:
            lengths.append(at)
    lines = index(watched)
    assert len(lines) >= 3
    assert lines[0]["ended"] == "terminated"
    for line in lines[:-1]:
        assert line["return"] == line["length"]
        assert line["length"] in range(20, 31)


def test_one_that_cannot_be_rendered_is_said_once_and_left_alone(watched):
    class Blind(Pictures):
        def render(self):
            raise ImportError("pygame is not installed, run `pip install pygame`")

    env = Blind()
    env.reset(seed=0)
    watched.toggle.now = True
    play(env, 100)
    assert not index(watched)
    (problem,) = watched.problems
    assert problem.startswith("Blind cannot be rendered: its render() raised ImportError: pygame is not installed, run")
    assert watched.said.count(f"rldebug: {problem}") == 1
    assert watched.toggle.closed


def test_an_environment_for_each_episode(watched, monkeypatch):
    monkeypatch.setattr("rldebug.capture.clips._LEFT_ALONE", 0.0)
    env = Pictures()
    env.reset(seed=0)
    watched.toggle.now = True
    for _ in range(3):
        env = Pictures()
        env.reset(seed=0)
        play(env, 5)
    assert index(watched)


def test_drawing_takes_its_share_and_no_more(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("rldebug.capture.clips.time.monotonic", lambda: now[0])
    pace, drawn = Pace(), 0
    for _ in range(100_000):
        now[0] += 0.001
        if pace.allows():
            now[0] += 0.01
            pace.took(0.01)
            drawn += 1
    assert drawn <= 15 * now[0] + 300
    assert drawn * 0.01 <= 0.2 * now[0] + 1.1
    slow = Pace()
    slow.took(0.5)
    assert slow.gap(100) > 10
    assert not slow.ready() or slow.allows()


# ── in a run ────────────────────────────────────────────────────────────────────────────────────────────────────────


def words(runs, *program):
    return ["-m", "rldebug", "run", "--render-toggle", "--record-only", "--folder", str(runs), "--name", "x", *program]


def environment():
    env = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    for name in ("RANK", "WORLD_SIZE", "DISPLAY", "WAYLAND_DISPLAY"):
        env.pop(name, None)
    return env


def digest(text):
    return next(line for line in text.splitlines() if line.startswith("=="))


def test_by_touching_a_file_and_nothing_in_the_program_changes(tmp_path):
    runs = tmp_path / "runs"
    program = [str(PROGRAM), "100", str(runs / "x" / "clips" / "index.jsonl"), str(runs / "x" / "toggle-render")]
    done = subprocess.run(
        [sys.executable, *words(runs, *program)],
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert "no display: clips are recorded under runs/x/clips" in done.stderr
    line = json.loads((runs / "x" / "clips" / "index.jsonl").read_text().splitlines()[0])
    assert (runs / "x" / "clips" / line["file"]).stat().st_size > 100
    assert not json.loads((runs / "x" / "run.json").read_text())["broken"]
    assert (runs / "x" / "frames" / "index.jsonl").exists()
    steps = next(int(each.split()[1]) for each in done.stdout.splitlines() if each.startswith("steps"))
    bare = subprocess.run(
        [sys.executable, str(PROGRAM), str(steps)], env=environment(), capture_output=True, text=True, check=True
    )
    assert digest(bare.stdout) == digest(done.stdout)


@pytest.mark.parametrize("end", ["r", "ctrl-c", "terminate"])
def test_by_a_key_and_the_terminal_is_as_it_was(end, tmp_path):
    typed, terminal = pty.openpty()
    before = termios.tcgetattr(terminal)
    runs = tmp_path / "runs"
    clips = runs / "x" / "clips" / "index.jsonl"
    never = str(tmp_path / "stop")
    start = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
    process = subprocess.Popen(
        [sys.executable, "-c", start, sys.executable, *words(runs, str(PROGRAM), "0", never, "READY")],
        env=environment(), stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True, cwd=tmp_path,
    )  # fmt: skip
    seen, deadline, asked = b"", time.monotonic() + 60, False
    try:
        while process.poll() is None and time.monotonic() < deadline:
            if select.select([typed], [], [], 0.05)[0]:
                seen += os.read(typed, 65536)
            if not asked and b"READY" in seen:
                os.write(typed, b"xr")
                asked = True
            if clips.exists() and b"stops at the end" not in seen and end == "r":
                os.write(typed, b"r")
                time.sleep(0.3)
            elif clips.exists() and end == "ctrl-c":
                os.write(typed, b"\x03")
                clips = tmp_path / "none"
            elif clips.exists() and end == "terminate":
                process.send_signal(signal.SIGTERM)
                clips = tmp_path / "none"
            if b"stops at the end" in seen:
                Path(never).touch()
        assert process.poll() is not None, seen.decode()
        assert b"rendering from the next episode on (r stops it)" in seen
        assert termios.tcgetattr(terminal) == before
        assert process.returncode == {"r": 0, "ctrl-c": -signal.SIGINT, "terminate": -signal.SIGTERM}[end]
    finally:
        process.kill()
        process.wait()
        os.close(typed)
        os.close(terminal)
    lines = [json.loads(each) for each in (runs / "x" / "clips" / "index.jsonl").read_text().splitlines()]
    assert lines[0]["ended"] == "terminated"
    assert not (runs / "x" / "clips" / "live.png").exists()
