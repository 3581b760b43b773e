"""The folder `clips`: animated pictures, an index, and the newest frame while something is drawn."""

from __future__ import annotations

import json

import numpy as np
import pytest

from rldebug.capture import clip_writer
from rldebug.capture.clip_writer import ClipWriter, smaller
from tests.capture.decode_png import decode, decode_animation

TOLD = {"update": 1, "env_step": 10, "seconds": 0.5, "return": 3.0, "length": 4, "env": "E", "ended": "terminated"}


def frames(count, shape=(20, 30, 3)):
    return [np.full(shape, each % 256, dtype=np.uint8) for each in range(count)]


def record(writer, shown, gap=1, fps=20.0, **told):
    writer.begin(fps)
    for number, each in enumerate(shown):
        writer.frame(each, number * gap)
    writer.end({**TOLD, **told})


def lines(folder):
    return [json.loads(each) for each in (folder / "index.jsonl").read_text().splitlines()]


def test_a_clip_is_a_line_an_animation_and_its_first_frame(tmp_path):
    writer = ClipWriter(tmp_path / "clips")
    record(writer, frames(5), gap=2)
    writer.rest()
    writer.close()
    (line,) = lines(writer.folder)
    assert line == {
        **TOLD,
        "n": 1,
        "frames": 5,
        "fps": 10.0,
        "width": 30,
        "height": 20,
        "file": "000001.png",
        "poster": "000001-first.png",
    }
    shown, delays = decode_animation((writer.folder / "000001.png").read_bytes())
    assert [int(each[0, 0, 0]) for each in shown] == [0, 1, 2, 3, 4]
    assert delays[:-1] == [100] * 4
    assert not decode((writer.folder / "000001-first.png").read_bytes()).any()
    assert sorted(each.name for each in writer.folder.iterdir()) == ["000001-first.png", "000001.png", "index.jsonl"]


def test_the_newest_frame_while_it_is_drawn(tmp_path):
    writer = ClipWriter(tmp_path / "clips")
    record(writer, [frames(9)[8]])
    writer.close()
    assert decode((writer.folder / "live.png").read_bytes())[0, 0, 0] == 8


def test_old_ones_are_thinned_and_their_files_are_gone(tmp_path, monkeypatch):
    monkeypatch.setattr(clip_writer, "KEPT", 6)
    monkeypatch.setattr(clip_writer, "_QUEUE", 1000)
    writer = ClipWriter(tmp_path / "clips")
    for _ in range(20):
        record(writer, frames(2))
    writer.rest()
    writer.close()
    kept = lines(writer.folder)
    assert len(kept) <= 6
    assert kept[0]["n"] == 1
    assert [each["n"] for each in kept][-3:] == [18, 19, 20]
    files = {each.name for each in writer.folder.iterdir()} - {"index.jsonl"}
    assert files == {each[name] for each in kept for name in ("file", "poster")}


def test_long_and_large_episodes_are_cut(tmp_path, monkeypatch):
    monkeypatch.setattr(clip_writer, "FRAMES", 10)
    monkeypatch.setattr(clip_writer, "_QUEUE", 1000)
    writer = ClipWriter(tmp_path / "clips")
    record(writer, frames(40))
    monkeypatch.setattr(clip_writer, "_BYTES", 100_000)
    noise = np.random.default_rng(0)
    record(writer, [noise.integers(0, 256, (200, 300, 3), dtype=np.uint8) for _ in range(6)])
    writer.close()
    long, large = lines(writer.folder)
    assert long["frames"] <= 10
    assert large["frames"] < 6
    decode_animation((writer.folder / large["file"]).read_bytes())


def test_whoever_hands_frames_over_does_not_wait(tmp_path, monkeypatch):
    monkeypatch.setattr(ClipWriter, "_work", lambda self: None)
    writer = ClipWriter(tmp_path / "clips")
    writer.begin(20.0)
    for each in frames(500):
        writer.frame(each, 0)
    assert writer._queue.qsize() <= clip_writer._QUEUE + 1


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "clips").write_text("a file")
    writer = ClipWriter(tmp_path / "clips")
    record(writer, frames(2))
    writer.close()
    assert writer.problem.startswith("clips are not recorded any more")


def test_an_episode_of_which_nothing_was_drawn_leaves_nothing(tmp_path):
    writer = ClipWriter(tmp_path / "clips")
    record(writer, [])
    writer.close()
    assert not list(writer.folder.iterdir())


@pytest.mark.parametrize("shape", [(400, 600, 3), (400, 600), (4000, 5000, 3), (10, 320, 3), (2000, 30, 3), (1, 5000)])
def test_frames_become_small(shape):
    made = smaller(np.full(shape, 200, dtype=np.uint8))
    assert made.shape[1] <= 320
    assert made.shape[0] <= 640
    assert made.shape[2:] == shape[2:]
    assert made.min() == made.max() == 200


def test_a_thin_line_is_not_lost():
    picture = np.zeros((400, 600, 3), dtype=np.uint8)
    picture[101] = 255
    assert smaller(picture)[50].min() > 100
