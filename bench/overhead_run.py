"""What `rldebug run` and `rldebug profile` cost, whole programs: CPU time of the process, with and without, in turn.

The programs lie in bench/programs. Each prints, as its last line, the CPU seconds that its process has taken: with
rldebug that is the start, the hooks, readings, audits and what is written, until the program ends. The pairs are
compared, and their median counts. What comes after, the last writing and the report, is printed apart, beside its own
bar. Start alone is that of a program of one step. Bytecode is kept from one run to the next, as it is for whoever has
installed a package; the first, short runs are there to make it.
"""

from __future__ import annotations

import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"
REPORT = 3.0  # seconds from the end of the program to that of the process


@dataclass(frozen=True)
class Program:
    name: str
    file: str
    size: int  # what it is given, for about 50 s of CPU
    bar: float
    needs: str = "gymnasium"
    command: str = "run"


@dataclass(frozen=True)
class Cost:
    until_its_end: float  # CPU seconds
    after: float  # CPU seconds from there to the end of the process
    waited: float  # the same by the clock on the wall


CASES = (
    Program("ppo-mlp", "ppo_mlp.py", 250, 0.05),
    Program("dqn-mlp", "dqn_mlp.py", 90_000, 0.08),
    Program("dqn-cnn", "dqn_cnn.py", 5_000, 0.02),
    Program("sb3-ppo", "sb3_ppo.py", 60_000, 0.05, "stable_baselines3"),
    # Twice as long: samples keep to a budget of which half is for the first ten seconds. 256,000 steps of CartPole.
    Program("profile", "ppo_mlp.py", 500, 0.03, command="profile"),
)
NAMES = tuple(each.name for each in CASES)


def cost(program: Program, size: int, folder: Path, *, watched: bool) -> Cost:
    start = [sys.executable, "-m", "rldebug", program.command] if watched else [sys.executable]
    env = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "PYTHONPYCACHEPREFIX": str(folder / "compiled"),
    }
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    before = os.times()
    process = subprocess.Popen(
        [*start, str(PROGRAMS / program.file), str(size)],
        cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    ended, cpu, printed = time.monotonic(), 0.0, ""
    for line in process.stdout:
        printed += line
        if line.startswith("cpu "):
            ended, cpu = time.monotonic(), float(line.split()[1])
    if process.wait() or not cpu:
        raise SystemExit(f"{program.file} failed:\n{printed[-4000:]}")
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return Cost(cpu, spent - cpu, time.monotonic() - ended)


def measure(program: Program, pairs: int, scale: float, folder: Path) -> list[str]:
    """What is missed: the bar of the program, the bar of the report."""
    size = max(int(program.size * scale), 1)
    ratios: list[float] = []
    bare: list[Cost] = []
    watched: list[Cost] = []
    for _ in range(2):  # the first makes the bytecode
        starts = [cost(program, 1, folder, watched=each).until_its_end for each in (False, True)]
    for pair in range(pairs):
        for turn in (False, True) if pair % 2 == 0 else (True, False):
            (watched if turn else bare).append(cost(program, size, folder, watched=turn))
        ratios.append(watched[-1].until_its_end / bare[-1].until_its_end - 1)
        print(f"{program.name}: pair {pair + 1} of {pairs}: {ratios[-1]:+.1%}", file=sys.stderr, flush=True)
    share = statistics.median(ratios)
    judged = program.command == "run"  # a profile measures for some seconds what the parts could cost
    report = statistics.median(each.after for each in watched) - statistics.median(each.after for each in bare)
    wall = statistics.median(each.waited for each in watched)
    seconds = [statistics.median(each.until_its_end for each in some) for some in (bare, watched)]
    print(
        f"{program.name:10}{seconds[0]:9.1f}{seconds[1]:10.1f}{share:+9.1%}{min(ratios):+9.1%}{max(ratios):+9.1%}"
        f"{starts[1] - starts[0]:9.2f}{program.bar:8.0%}  {'kept' if share <= program.bar else 'MISSED'}\n"
        f"{'':10}the report: {report:.1f} s of CPU, {wall:.1f} s by the clock"
        + (f", bar {REPORT:.0f} s: {'kept' if report <= REPORT else 'MISSED'}" if judged else ", the yardstick in it"),
        flush=True,
    )
    missed = [program.name] if share > program.bar else []
    return missed + ([f"report of {program.name}"] if judged and report > REPORT else [])


def run(names: list[str], pairs: int, scale: float) -> list[str]:
    """What is missed."""
    missed: list[str] = []
    print("\nrldebug run (profile: rldebug profile), whole programs until they end: CPU seconds, medians of the pairs")
    print(f"{'':10}{'bare':>9}{'watched':>10}{'extra':>9}{'least':>9}{'most':>9}{'start s':>9}{'bar':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for program in CASES:
            if program.name not in names:
                continue
            if importlib.util.find_spec(program.needs) is None:
                print(f"{program.name:10} not measured: {program.needs} is not installed")
            else:
                missed += measure(program, pairs, scale, Path(folder))
    print("start s: what a program of one step takes longer; it is in the extra as well")
    return missed
