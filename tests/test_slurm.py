"""The job scripts for Slurm: bash can read them, and what they start runs, as the one task of a job would."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[1] / "examples" / "slurm"
PROGRAM = Path(__file__).parent / "run_programs" / "torchrun_ppo.py"


def run(folder, script, *words, **given):
    """With stand-ins for what Slurm has; rldebug and torchrun are those of this interpreter."""
    beside = folder / "bin"
    beside.mkdir(exist_ok=True)
    for name, text in {
        "srun": 'exec "$@"',
        "scontrol": "echo localhost",
        "rldebug": f'exec {sys.executable} -m rldebug "$@"',
        "torchrun": f'exec {sys.executable} -m torch.distributed.run "$@"',
    }.items():
        (beside / name).write_text(f"#!/bin/bash\n{text}\n")
        (beside / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{beside}:{os.environ['PATH']}", "OMP_NUM_THREADS": "1", **given}
    words = ["bash", str(SCRIPTS / script), *map(str, words)]
    return subprocess.run(words, capture_output=True, text=True, cwd=folder, env=environment, timeout=300)


@pytest.mark.parametrize("script", sorted(each.name for each in SCRIPTS.glob("*.sbatch")))
def test_bash_can_read_it_and_slurm_its_wishes(script):
    subprocess.run(["bash", "-n", str(SCRIPTS / script)], check=True)
    lines = (SCRIPTS / script).read_text().splitlines()
    wishes = [place for place, each in enumerate(lines) if each.startswith("#SBATCH --")]
    commands = [place for place, each in enumerate(lines) if each and not each.startswith("#")]
    assert wishes
    assert max(wishes) < min(commands)  # Slurm reads no further


@pytest.mark.integration
def test_a_part_of_a_sweep_goes_on_where_it_was(tmp_path):
    words = ["vpg", "--env", "CartPole-v1", "--seeds", 2, "--steps", 300, "--episodes", 1]
    one = {"SLURM_ARRAY_TASK_COUNT": "2", "SLURM_ARRAY_TASK_MIN": "5", "SLURM_CPUS_PER_TASK": "1"}
    done = run(tmp_path, "sweep.sbatch", *words, SLURM_ARRAY_TASK_ID="6", **one)
    assert done.returncode == 0, done.stderr
    assert "[1/1] vpg CartPole-v1 seed 1" in done.stderr
    done = run(tmp_path, "sweep.sbatch", *words)  # as if all were one task
    assert "[1/1] vpg CartPole-v1 seed 0" in done.stderr
    again = run(tmp_path, "sweep.sbatch", *words, "--json", "-")
    assert "[" not in again.stderr  # nothing was left to do
    assert len(json.loads(again.stdout)["bands"][0]["returns"]) == 2


@pytest.mark.integration
def test_a_job_of_torchrun_is_one_run(tmp_path):
    given = {"SLURM_JOB_NODELIST": "node1", "SLURM_NNODES": "1", "SLURM_JOB_ID": "77", "PORT": "0"}
    done = run(tmp_path, "torchrun.sbatch", PROGRAM, **given)
    assert done.returncode == 0, done.stderr
    assert sorted(each.name for each in (tmp_path / ".rldebug" / "runs").iterdir()) == [
        "torchrun_ppo", "torchrun_ppo-rank1",
    ]  # fmt: skip
    assert "one job of 2 ranks: this is of rank 0; 0, 1 were compared" in done.stderr
    assert done.stderr.count("nothing wrong found") == 1
