"""rldebug run of a job that torchrun starts: one run, one report, and what is wrong between its ranks is named."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.commands.test_run_children import ABOUT_RANKS

pytestmark = pytest.mark.integration

PROGRAM = Path(__file__).parents[1] / "run_programs" / "torchrun_ppo.py"
RUNS = Path(".rldebug") / "runs"


@dataclass
class Job:
    report: dict
    out: str
    err: str

    @property
    def about_ranks(self):
        """Root findings, the first cause first."""
        found = self.report["findings"]
        return [each["code"] for each in found if each["code"] in ABOUT_RANKS and not each["follows"]]

    @property
    def loud(self):
        return [each["code"] for each in self.report["findings"] if each["severity"] != "note"]

    @property
    def weights(self):
        return sorted(re.findall(r"rank \d [0-9a-f]{64}", self.out))


def torchrun(*words, ranks=2):
    given = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks)]
    return subprocess.run([*command, *map(str, words)], capture_output=True, text=True, timeout=200, env=given)


def watched(*words, ranks=2):
    done = torchrun("-m", "rldebug", "run", "--json", "out.json", PROGRAM, *words, ranks=ranks)
    if not Path("out.json").exists():  # another rank failed first, and torchrun ended this one
        subprocess.run([sys.executable, "-m", "rldebug", "report", "--json", "out.json"], capture_output=True)
    return Job(json.loads(Path("out.json").read_text(encoding="utf-8")), done.stdout, done.stderr)


def test_a_healthy_job_is_one_run_with_one_report_and_its_weights_are_its_own():
    job = watched()
    assert job.loud == []
    assert sorted(each.name for each in RUNS.iterdir()) == ["torchrun_ppo", "torchrun_ppo-rank1"]
    assert "one job of 2 ranks: this is of rank 0; 0, 1 were compared" in job.err
    assert job.err.count("rules ran") == 1
    assert not set(ABOUT_RANKS) - {"SEE355"} & set(job.report["skipped"]) - {"MPR356"}
    assert job.weights == Job({}, torchrun(PROGRAM).stdout, "").weights
    assert len(job.weights) == 2


@pytest.mark.parametrize("way", [("ddp",), ("sgd", "normalised"), ("shared-stop",)])
def test_other_healthy_ways_are_left_alone(way):
    assert watched(*way).loud == []


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (("summed",), "MPR352"),
        (("summed", "sgd"), "MPR352"),
        (("ddp", "reduced-twice"), "MPR353"),
        (("divided-twice",), "MPR353"),
        (("not-broadcast",), "MPR350"),
        (("same-seed",), "SEE355"),
        (("same-env-seed",), "SEE356"),
        (("own-statistics",), "MPR356"),
        (("own-stop",), "MPR354"),
        (("report-by-first",), "MPR355"),
    ],
)
def test_what_is_wrong_between_ranks_is_named(wrong, code):
    assert watched(*wrong).about_ranks[:1] == [code]


def test_a_killed_rank_is_told_of(rldebug):
    torchrun("-m", "rldebug", "run", PROGRAM, "killed")  # torchrun ends rank 0 as well: it says nothing
    said = rldebug("report", "--json", "out.json")
    assert "one job of 2 ranks: this is of rank 0; 0, 1 were compared" in said.out
    assert "rank 1 was killed, or its machine went down" in said.out
    assert "MPR355" not in Job(json.loads(Path("out.json").read_text(encoding="utf-8")), "", "").about_ranks


def test_a_rank_that_fails_is_told_of_with_its_own_error(rldebug):
    done = torchrun("-m", "rldebug", "run", PROGRAM, "raises")
    assert "`rldebug report .rldebug/runs/torchrun_ppo` is about all ranks" in done.stderr
    assert "rank 1 failed: ValueError: a reward of 1.0 in iteration 3" in rldebug("report").out


def test_folders_that_are_missing_cut_off_or_copied_elsewhere(rldebug):
    assert watched("not-broadcast", ranks=4).about_ranks == ["MPR350"]
    elsewhere = Path("copied")
    shutil.copytree(RUNS, elsewhere)
    said = rldebug("report", elsewhere / "torchrun_ppo", "--json", "again.json")
    assert said.status == 1
    assert "0, 1, 2, 3 were compared" in said.out
    shutil.rmtree(elsewhere / "torchrun_ppo-rank2")
    cut = elsewhere / "torchrun_ppo-rank3" / "script.jsonl"
    cut.write_bytes(cut.read_bytes()[:-40])
    said = rldebug("report", elsewhere / "torchrun_ppo")
    assert "rank 2 of 4 left no folder beside this one" in said.out
    assert "rank 3: script.jsonl line" in said.out
    assert "cut off in writing" in said.out
    assert "MPR350" in said.out
    shutil.rmtree(elsewhere / "torchrun_ppo")
    said = rldebug("report", elsewhere / "torchrun_ppo-rank1")
    assert "ranks 0, 2 of 4 left no folder" in said.out
    assert "MPR350" in said.out
    os.utime(RUNS / "torchrun_ppo-rank3" / "run.json")  # written to last
    assert "this is of rank 0" in rldebug("report").out
