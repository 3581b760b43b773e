"""What `rldebug run` costs, whole programs: CPU time of the process and its children, with and without, in turn.

The programs lie in bench/programs. Each pair is compared; the median of the pairs counts. What starting takes, and the
report at the end, is part of it, and is also measured on a program of one step, and printed apart.
"""

from __future__ import annotations

import importlib.util
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"


@dataclass(frozen=True)
class Program:
    name: str
    file: str
    size: int  # what it is given, for about 50 s of CPU
    bar: float
    needs: str = "gymnasium"


CASES = (
    Program("ppo-mlp", "ppo_mlp.py", 220, 0.05),
    Program("dqn-mlp", "dqn_mlp.py", 90_000, 0.08),
    Program("dqn-cnn", "dqn_cnn.py", 3_000, 0.02),
    Program("sb3-ppo", "sb3_ppo.py", 70_000, 0.05, "stable_baselines3"),
)
NAMES = tuple(each.name for each in CASES)


def cost(program: Program, size: int, folder: Path, *, watched: bool) -> tuple[float, float]:
    """CPU seconds of one run, and how long the report took after the program had ended."""
    start = [sys.executable, "-m", "rldebug", "run", "--folder", str(folder / "runs")] if watched else [sys.executable]
    env = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    before = os.times()
    process = subprocess.Popen(
        [*start, str(PROGRAMS / program.file), str(size)],
        cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    last, printed = time.monotonic(), ""
    for line in process.stdout:
        printed += line
        if re.match(r"(rollout|step|\d+ steps)", line):
            last = time.monotonic()  # of the program's own lines: the rest is ours
    if process.wait():
        raise SystemExit(f"{program.file} failed:\n{printed[-4000:]}")
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return spent, time.monotonic() - last


def measure(program: Program, pairs: int, scale: float) -> bool:
    """Whether the bar is kept."""
    size = max(int(program.size * scale), 1)
    ratios: list[float] = []
    bare: list[float] = []
    watched: list[float] = []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        starts = [cost(program, 1, folder, watched=each)[0] for each in (False, True)]
        for pair in range(pairs):
            for turn in (False, True) if pair % 2 == 0 else (True, False):
                (watched if turn else bare).append(cost(program, size, folder, watched=turn)[0])
            ratios.append(watched[-1] / bare[-1] - 1)
            print(f"{program.name}: pair {pair + 1} of {pairs}: {ratios[-1]:+.1%}", file=sys.stderr)
    share = statistics.median(ratios)
    fixed = starts[1] - starts[0]
    verdict = "kept" if share <= program.bar else "MISSED"
    print(
        f"{program.name:10}{statistics.median(bare):9.1f}{statistics.median(watched):10.1f}{share:+9.1%}"
        f"{min(ratios):+9.1%}{max(ratios):+9.1%}{fixed:9.1f}{program.bar:8.0%}  {verdict}",
        flush=True,
    )
    return share <= program.bar


def run(names: list[str], pairs: int, scale: float) -> list[str]:
    """Names of the programs whose bar is missed."""
    missed = []
    print("\nrldebug run, default settings, whole programs: CPU seconds of one thread, medians of the pairs")
    print(f"{'':10}{'bare':>9}{'watched':>10}{'extra':>9}{'least':>9}{'most':>9}{'fixed s':>9}{'bar':>8}")
    for program in CASES:
        if program.name not in names:
            continue
        if importlib.util.find_spec(program.needs) is None:
            print(f"{program.name:10} not measured: {program.needs} is not installed")
        elif not measure(program, pairs, scale):
            missed.append(program.name)
    print("fixed s: of a program of one step, so start and report alone; they are in the extra as well")
    return missed
