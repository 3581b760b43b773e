"""Is the advice of `rldebug profile` worth what it promises? On programs that are slow for one known reason.

    python bench/speedups.py [--quick] [--only NAME …] [--rounds N] [--healthy]

The programs lie in tests/planted_slow, each beside the same program with the advice applied. Each slow one is run
under `rldebug profile`, then both are run without it, in turn; of each the fastest of three rounds counts. A program
times its own training. Then the healthy ones: everything that is advised there is listed.

Bars: what is planted is named, with a speed-up that is the largest or the second of those told, at a line not more
than three away; the speed-up that was promised and the one that was measured differ by a factor of 1.5 at most. Some
rules promise nothing, as nobody could know: they only have to name it. Of a healthy program nothing is told that is
worth less than 5 %. Exits 1 where a bar is missed.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))  # the planted programs lie with the tests

from tests.planted_slow import HEALTHY, Slow, environment, programs

FACTOR = 1.5  # between what was promised and what was measured, either way
RANK = 2
LINES = 3
WORTH = 1.05
LIMIT = 300  # seconds for one process


@dataclass(frozen=True)
class Told:
    """What a report says of a planted mistake."""

    rank: int  # 1 is the largest speed-up; 0: not named
    promised: float | None = None
    line: int | None = None
    others: str = ""
    share: float = 0.0  # of the run, of the part that was planted in


def profiled(file: Path, own_threads: bool = False) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "rldebug", "profile", "--quiet", "--json", str(report), str(file)]
        _run(command, folder, own_threads)
        found: dict[str, Any] = json.loads(report.read_text())
        return found


def seconds(file: Path, own_threads: bool = False) -> float:
    with tempfile.TemporaryDirectory() as folder:
        out = _run([sys.executable, str(file)], folder, own_threads)
    return float(re.findall(r"seconds=([0-9.]+)", out)[-1])


def _run(command: list[str], folder: str, own_threads: bool) -> str:
    env = environment(dict(os.environ), own_threads)
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=LIMIT)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}\n{done.stderr}")
    return done.stdout


def told(report: dict[str, Any], planted: Slow) -> Told:
    findings = sorted(report["findings"], key=lambda each: -each.get("speedup", 0.0))
    others = ", ".join(
        f"{each['code']} ×{each.get('speedup', 1.0):.2f}" for each in findings if each["code"] != planted.code
    )
    timing = report["timing"]
    share = timing["parts"].get(planted.part, 0.0) / max(timing["seconds"], 1e-9)
    own = [place for place, each in enumerate(findings) if each["code"] == planted.code]
    if not own:
        return Told(0, others=others, share=share)
    first = findings[own[0]]
    return Told(own[0] + 1, first.get("speedup"), first["where"]["line"], others, share)


def judged(planted: Slow, said: Told, measured: float) -> list[str]:
    """The bars that are missed."""
    if not said.rank:
        return ["not named"]
    missed = []
    if said.promised is not None and said.rank > RANK:
        missed.append(f"place {said.rank}")
    if said.line is None or abs(said.line - planted.line) > LINES:
        missed.append(f"line {said.line}, not {planted.line}")
    if said.promised is not None and not 1 / FACTOR <= said.promised / measured <= FACTOR:
        missed.append("promise")
    return missed


def one(planted: Slow, rounds: int) -> bool:
    said = told(profiled(planted.file, planted.own_threads), planted)
    slow, mended = [], []
    for _ in range(rounds):
        slow.append(seconds(planted.file, planted.own_threads))
        mended.append(seconds(planted.mended, planted.own_threads))
    measured = min(slow) / min(mended)
    missed = judged(planted, said, measured)
    promise = said.promised
    print(
        f"{planted.file.stem:40} {planted.code} {said.rank or '–':>5}",
        f"{'–' if promise is None else f'{promise:.2f}':>8} {min(slow):6.2f} {min(mended):6.2f} {measured:8.2f}",
        f"{'–' if promise is None else f'{promise / measured:.2f}':>5} {said.share:4.0%}  {said.others or '–'}",
        f" MISSED: {', '.join(missed)}" if missed else "",
        flush=True,
    )
    return not missed


def healthy(file: Path) -> bool:
    findings = profiled(file)["findings"]
    small = [each for each in findings if each.get("speedup", WORTH) < WORTH]
    shown = ", ".join(f"{each['code']} {each['name']} ×{each.get('speedup', 1.0):.2f}" for each in findings)
    print(f"{file.stem:40} {shown or 'nothing'}{'  MISSED: not worth telling' if small else ''}", flush=True)
    return not small


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", metavar="NAME", help="programs whose name contains this")
    parser.add_argument("--quick", action="store_true", help="one round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--healthy", action="store_true", help="the healthy ones alone")
    options = parser.parse_args()

    def wanted(file: Path) -> bool:
        return not options.only or any(each in file.stem for each in options.only)

    good = []
    if not options.healthy:
        print(f"{'':40} {'':6} {'':5} {'speed-up':>8} {'seconds':>13} {'speed-up':>8} {'':>5} {'':4}")
        print(
            f"{'program':40} {'code':6} place promised {'slow':>6} mended measured ratio part  also told",
        )
        good += [one(each, 1 if options.quick else options.rounds) for each in programs() if wanted(each.file)]
    print(f"\n{'healthy program':40} advised")
    for file in HEALTHY:
        if file.stem.startswith("sb3") and importlib.util.find_spec("stable_baselines3") is None:
            print(f"{file.stem:40} left out: stable_baselines3 is not installed")
        elif wanted(file):
            good.append(healthy(file))
    print(f"\n{sum(good)} of {len(good)} meet the bars")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
