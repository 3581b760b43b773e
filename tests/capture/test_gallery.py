"""The folder `frames`: what is kept, how much of it, and what becomes of it where it cannot be."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
import torch

from rldebug.capture import gallery
from rldebug.capture.gallery import Gallery
from tests.capture.decode_png import decode

PICTURE = np.arange(16 * 20, dtype=np.uint8).reshape(16, 20)


def made(tmp_path, **options):
    return Gallery(tmp_path / "frames", lambda: (7, 70), **options)


def lines(tmp_path):
    return [json.loads(each) for each in (tmp_path / "frames" / "index.jsonl").read_text().splitlines()]


def test_a_look_is_a_line_and_its_pictures(tmp_path):
    made(tmp_path).keep("network", "policy", PICTURE, torch.arange(3.0, dtype=torch.bfloat16))
    (line,) = lines(tmp_path)
    assert {name: line[name] for name in ("n", "update", "env_step", "source", "name")} == {
        "n": 1,
        "update": 7,
        "env_step": 70,
        "source": "network",
        "name": "policy",
    }
    assert line["seconds"] >= 0
    assert line["before"]["png"] == "000001-before.png"
    assert line["before"]["values"] is None
    assert np.array_equal(decode((tmp_path / "frames" / "000001-before.png").read_bytes()), PICTURE)
    assert line["after"]["png"] is None
    assert line["after"]["values"] == [0, 1, 2]
    assert line["after"]["dtype"] == "bfloat16"


def test_when_it_is_due(tmp_path):
    made_here = made(tmp_path, every=1000)
    assert [each for each in range(1, 3001) if made_here.due(each)] == [1, 10, 100, 1000, 2000, 3000]
    assert [made_here.next_due(each) for each in (0, 1, 10, 99, 100, 1000)] == [1, 10, 100, 100, 1000, 2000]
    assert made_here.due(50, every=50)
    made_here.gap = 4
    assert not made_here.due(1000)
    assert made_here.next_due(100) == 4000


def test_too_many_are_thinned_and_their_files_are_gone(tmp_path, monkeypatch):
    monkeypatch.setattr(gallery, "_GRACE", 60.0)
    monkeypatch.setattr(gallery, "KEPT", 20)
    made_here = made(tmp_path)
    for _ in range(75):
        made_here.keep("preprocess", "f", PICTURE, PICTURE)
    kept = lines(tmp_path)
    assert len(kept) <= 20
    assert kept[0]["n"] == 1
    assert kept[-1]["n"] == 75
    assert made_here.gap == 64
    files = {each.name for each in (tmp_path / "frames").iterdir()} - {"index.jsonl"}
    assert files == {each[place]["png"] for each in kept for place in ("before", "after")}


def test_what_holds_no_numbers_is_not_kept(tmp_path):
    made_here = made(tmp_path)
    made_here.keep("preprocess", "f", None, PICTURE)
    made_here.keep("preprocess", "f", PICTURE, "text")
    assert made_here.problem is None
    assert not (tmp_path / "frames").exists()


def test_it_takes_a_small_share_of_the_time(tmp_path):
    told = []
    made_here = made(tmp_path)
    made_here.took = told.append
    made_here.keep("preprocess", "f", PICTURE, PICTURE)
    assert told == [made_here.spent]
    made_here.spent = 1000.0
    made_here.keep("preprocess", "f", PICTURE, PICTURE)
    assert len(lines(tmp_path)) == 1


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="POSIX")
def test_a_folder_that_cannot_be_made_is_said_once(tmp_path):
    (tmp_path / "frames").write_text("a file")
    made_here = made(tmp_path)
    made_here.keep("preprocess", "f", PICTURE, PICTURE)
    assert made_here.problem.startswith("frames are not kept any more")
    made_here.keep("preprocess", "f", PICTURE, PICTURE)


def test_a_forked_process_writes_nothing(tmp_path):
    made_here = made(tmp_path)
    made_here._pid += 1
    made_here.keep("preprocess", "f", PICTURE, PICTURE)
    assert not (tmp_path / "frames").exists()
