"""Which run folders are one job, and how each of its ranks stands."""

import json
import os
import socket
import threading
import time

import pytest

from rldebug.evidence.ranks import job_of, stem_of, told_by_launcher, wait_for_ranks

GONE = 2**22 + 1  # no process has this number


def folder(root, name, rank, *, world=2, at="12:00:00", job="host 1 none 0", state="finished", **more):
    made = root / name
    made.mkdir()
    meta = {"rank": rank, "world": world, "job": job, "started": f"2026-01-02T{at}+0000", "state": state, **more}
    (made / "run.json").write_text(json.dumps(meta))
    return made


def test_a_job_is_who_has_its_name_and_number_and_began_with_it(tmp_path):
    first = folder(tmp_path, "train", 0)
    folder(tmp_path, "train-rank1", 1, at="12:00:02")
    folder(tmp_path, "train-rank1-2", 1, at="12:05:00")  # of the next one
    folder(tmp_path, "train-2", 0, at="12:05:00")
    folder(tmp_path, "trainer-rank1", 1)
    folder(tmp_path, "train-rank1-3", 1, job="host 2 none 0")
    job = job_of(first)
    assert {rank: each.folder.name for rank, each in job.members.items()} == {0: "train", 1: "train-rank1"}
    assert job.missing == []
    later = job_of(tmp_path / "train-2")
    assert {each.folder.name for each in later.members.values()} == {"train-2", "train-rank1-2"}
    assert {each.folder.name for each in job_of(tmp_path / "train-rank1").members.values()} == {"train", "train-rank1"}


def test_ranks_that_left_nothing_are_missing_also_the_first(tmp_path):
    for rank in (1, 3):
        folder(tmp_path, f"train-rank{rank}", rank, world=4)
    assert job_of(tmp_path / "train-rank1").missing == [0, 2]


def test_a_process_by_itself_is_no_job(tmp_path):
    alone = tmp_path / "train"
    alone.mkdir()
    assert job_of(alone) is None
    (alone / "run.json").write_text('{"state": "running"}')
    assert job_of(alone) is None
    (alone / "run.json").write_text("[1")
    assert job_of(alone) is None


def test_who_is_lost_and_who_still_runs(tmp_path):
    here = socket.gethostname()
    first = folder(tmp_path, "train", 0, world=4, state="running", pid=os.getpid(), host=here)
    folder(tmp_path, "train-rank1", 1, world=4, state="running", pid=GONE, host=here)
    folder(tmp_path, "train-rank2", 2, world=4, state="running", pid=GONE, host=f"not-{here}")
    folder(tmp_path, "train-rank3", 3, world=4, state="crashed", pid=GONE, host=here)
    members = job_of(first).members.values()
    assert [each.lost for each in members] == [False, True, False, False]
    assert [each.running for each in members] == [True, False, True, False]


def test_the_first_waits_until_the_others_have_ended(tmp_path):
    first = folder(tmp_path, "train", 0)
    other = folder(tmp_path, "train-rank1", 1, state="running", pid=os.getpid())

    def end():
        time.sleep(0.3)
        meta = json.loads((other / "run.json").read_text())
        (other / "draft").write_text(json.dumps({**meta, "state": "finished"}))
        (other / "draft").replace(other / "run.json")

    ending = threading.Thread(target=end)
    ending.start()
    wait_for_ranks(first, 60.0, lambda each: False)
    assert json.loads((other / "run.json").read_text())["state"] == "finished"
    ending.join()


def test_it_does_not_wait_for_who_hangs_or_is_gone(tmp_path):
    first = folder(tmp_path, "train", 0)
    folder(tmp_path, "train-rank1", 1, state="running", pid=os.getpid())
    wait_for_ranks(first, 3600.0, lambda each: True)
    wait_for_ranks(tmp_path, 3600.0, lambda each: False)  # no job


@pytest.mark.parametrize(
    ("name", "stem"),
    [("train", "train"), ("train-2", "train"), ("train-rank3", "train"), ("train-rank3-2", "train"), ("a-b", "a-b")],
)
def test_the_name_that_ranks_have_in_common(name, stem):
    assert stem_of(name) == stem


def test_what_the_launcher_tells(monkeypatch):
    for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID"):
        monkeypatch.delenv(name, raising=False)
    assert told_by_launcher() == {}
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "1")
    assert told_by_launcher() == {}
    monkeypatch.setenv("WORLD_SIZE", "4")
    monkeypatch.setenv("MASTER_PORT", "29500")
    assert told_by_launcher() == {"rank": 1, "world": 4, "job": "- 29500 - -"}
