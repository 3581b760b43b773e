"""What `rldebug run` works out about programs: the kind of targets, γ, λ and the number of steps, beside the truth.

    python bench/identified.py [--only TEXT] [--keep FOLDER] [--seconds N]

The programs: our reference algorithms, the healthy programs of the development half of the bug corpus, and algorithms
of Stable-Baselines3 and sb3-contrib where they are installed. Each is run for some CPU seconds under `rldebug run
--record-only`, then its record is read. The truth is written below by hand, from the settings of the programs: no name
and no setting of a program is looked at by rldebug.

Exits 1 where something is identified that is not so. What is not identified is printed with a dash, and counted.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rldebug.evidence.script import Script, read_script
from rldebug.forensics.targets import Fit, fit_targets

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs" / "identify"
CORPUS = HERE / "bugs" / "corpus"
GAMMA, LAMBDA = 1e-4, 1e-3


@dataclass(frozen=True)
class Case:
    name: str
    command: tuple[str, ...]  # beside the interpreter
    kind: str  # gae, td, monte-carlo, q, soft q; with the number of steps where it is more than one
    gamma: float
    lam: float | None = None
    n: int = 1
    needs: str = ""
    folder: Path = PROGRAMS


def _ours(name: str, steps: int, kind: str, gamma: float, lam: float | None = None, n: int = 1) -> Case:
    return Case(f"rldebug {name}", ("ours.py", name, str(steps)), kind, gamma, lam, n)


def _sb3(
    name: str, kind: str, gamma: float, lam: float | None = None, n: int = 1, needs: str = "stable_baselines3"
) -> Case:
    package = "SB3" if needs == "stable_baselines3" else "sb3-contrib"
    return Case(f"{package} {name}", ("sb3.py", name), kind, gamma, lam, n, needs)


def _base(
    name: str, command: str, kind: str, gamma: float, lam: float | None = None, n: int = 1, needs: str = ""
) -> Case:
    return Case(name, tuple(command.split()), kind, gamma, lam, n, needs, CORPUS / name)


CASES: tuple[Case, ...] = (
    _ours("vpg", 20_000, "gae", 0.97, 0.97),
    _ours("a2c", 20_000, "gae", 0.97, 0.93),
    _ours("ppo", 20_000, "gae", 0.97, 0.91),
    _ours("trpo", 20_000, "gae", 0.97, 0.91),
    _ours("dqn", 6_000, "q", 0.96, n=3),
    _ours("sac", 1_500, "soft q", 0.95),
    _base("cleanrl_ppo", "ppo.py --seed 1", "gae", 0.95, 0.95),
    _base("ddp_vpg", "train.py --seed 1", "monte-carlo", 0.95),
    _base("ddpg_seminar", "ddpg.py", "q", 0.95),
    _base("functional_reinforce", "orchard.py", "monte-carlo", 0.95),
    _base("image_catch", "catch_dqn.py --seed 1", "q", 0.9),
    _base("lives_env", "dqn.py", "q", 0.95),
    _base("masked_ppo", "ppo_masked.py seed=1", "gae", 1.0, 0.9),
    _base("notebook_dqn", "cartpole_dqn.py", "q", 0.97),
    _base("ppo_gaussian_by_hand", "ppo.py seed=1", "gae", 0.97, 0.95),
    _base("rainbow_parts", "train.py --seed 1", "q", 0.97, n=3),
    _base("sac_single_file", "sac.py --seed 1", "soft q", 0.97),
    _base("sb3_ppo_script", "train_agent.py --seed 1", "gae", 0.98, 0.9, needs="stable_baselines3"),
    _base("sb3_sac_script", "sac_buoy.py --seed 1", "soft q", 0.95, needs="stable_baselines3"),
    _sb3("ppo", "gae", 0.97, 0.91),
    _sb3("ppo-norm", "gae", 0.97, 0.91),
    _sb3("ppo-frames", "gae", 0.97, 0.91),
    _sb3("ppo-trunk", "gae", 0.97, 0.91),
    _sb3("a2c", "gae", 0.97, 0.93),
    _sb3("a2c-norm", "gae", 0.97, 0.93),
    _sb3("dqn", "q", 0.96),
    _sb3("dqn-n-step", "q", 0.96, n=3),
    _sb3("dqn-frames", "q", 0.96),
    _sb3("sac", "soft q", 0.95),
    _sb3("sac-norm", "soft q", 0.95),
    _sb3("td3", "q", 0.95),
    _sb3("ddpg", "q", 0.95),
    _sb3("trpo", "gae", 0.97, 0.91, needs="sb3_contrib"),
    _sb3("recurrent-ppo", "gae", 0.97, 0.91, needs="sb3_contrib"),
    _sb3("qr-dqn", "q", 0.96, needs="sb3_contrib"),
)


def kind_of(fit: Fit) -> str:
    """In the words of the table."""
    if fit.mistake:
        return fit.mistake
    if fit.what != "q":
        return fit.name
    return "soft q" if fit.entropy is not None else "q"


def record(case: Case, folder: Path, seconds: int) -> Script | None:
    """Run it for so many CPU seconds; what it has done until then is enough."""
    program = folder / "program"
    shutil.copytree(case.folder, program, ignore=shutil.ignore_patterns("__pycache__", "*.toml", "*.jsonl"))

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds + 20, seconds + 30))

    command = [
        sys.executable,
        "-m",
        "rldebug",
        "run",
        "--record-only",
        "--folder",
        str(folder / "runs"),
        "--name",
        "it",
    ]
    env = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    with (folder / "output").open("w") as output:
        process = subprocess.Popen(
            [*command, *case.command],
            cwd=program, env=env, stdout=output, stderr=output, stdin=subprocess.DEVNULL, preexec_fn=limit,
        )  # fmt: skip
        _stop_after(process, seconds)
    return read_script(folder / "runs" / "it")


def _stop_after(process: subprocess.Popen[bytes], seconds: float) -> None:
    """With SIGTERM, which rldebug takes as a reason to write what it has."""
    told = False
    tick = os.sysconf("SC_CLK_TCK")
    while process.poll() is None:
        try:
            process.wait(0.2)
            return
        except subprocess.TimeoutExpired:
            pass
        try:
            fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
            spent = (int(fields[11]) + int(fields[12])) / tick
        except (OSError, IndexError):
            continue  # no /proc: the program ends by itself, or at the limit
        if spent > seconds and not told:
            process.terminate()
            told = True


def found(case: Case, script: Script | None) -> tuple[Fit | None, str]:
    """What fits the truth best of what was identified, and in what it is wrong."""
    fits = [] if script is None else [each for each in fit_targets(script) if each.gamma is not None]
    if not fits:
        return None, ""
    judged = [(each, ", ".join(_wrong(case, each))) for each in fits]
    critics = [each for each in judged if each[0].what != "weight"] or judged
    wrong = next((each for each in critics if each[1]), None)
    return wrong or critics[0]


def _wrong(case: Case, fit: Fit) -> Iterator[str]:
    if kind_of(fit) != case.kind and not (fit.lam is None and case.kind == fit.name):
        yield "kind"
    if fit.gamma is not None and abs(fit.gamma - case.gamma) > GAMMA:
        yield "γ"
    if case.lam is not None and fit.lam is not None and abs(fit.lam - case.lam) > LAMBDA:
        yield "λ"
    if fit.n != case.n:
        yield "n"


def row(case: Case, fit: Fit | None, wrong: str) -> str:
    def beside(is_: float | None, should: float | None, digits: int) -> str:
        return ("-" if is_ is None else f"{is_:.{digits}f}") + (f" ({should:g})" if should is not None else "")

    if fit is None:
        return f"{case.name:24} {'-':>14} {case.kind:>12}  not identified"
    lam = fit.lam if case.lam is not None else None
    return (
        f"{case.name:24} {kind_of(fit):>14} {case.kind:>12}  {beside(fit.gamma, case.gamma, 6):>16} "
        f"{beside(lam, case.lam, 5):>15} {fit.n} ({case.n})  {fit.rows:6} rows, {fit.share:4.0%}"
        + (f"   WRONG: {wrong}" if wrong else "")
    )


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", default="", help="programs whose name has this in it")
    options.add_argument("--keep", type=Path, help="where records are kept, and taken from where they are there")
    options.add_argument("--seconds", type=int, default=12, help="CPU seconds for each program")
    args = options.parse_args()
    print(f"{'program':24} {'found':>14} {'true':>12}  {'γ (true)':>16} {'λ (true)':>15} n (true)")
    counts = {"right": 0, "unknown": 0, "wrong": 0}
    for case in CASES:
        if args.only not in case.name or (case.needs and importlib.util.find_spec(case.needs) is None):
            continue
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made) if args.keep is None else args.keep / case.name.replace(" ", "-")
            kept = read_script(folder / "runs" / "it") if (folder / "runs" / "it").exists() else None
            folder.mkdir(parents=True, exist_ok=True)
            fit, wrong = found(case, kept or record(case, folder, args.seconds))
        counts["unknown" if fit is None else "wrong" if wrong else "right"] += 1
        print(row(case, fit, wrong), flush=True)
    print(", ".join(f"{count} {name}" for name, count in counts.items()))
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
