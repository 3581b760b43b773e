"""Does `rldebug profile` say where the time went? Programs with costs that are known, attributed beside the truth.

    python bench/attribution.py [--quick] [--only PROGRAM[:PART[:KIND]]] [--all]

The programs lie in tests/timed_programs, each in a style of its own. They measure themselves how long each part of
their loop takes, and any part can be made slower: by a busy loop in Python (burn), asleep (sleep), or in C (torch).
Each is profiled plain, with each of its parts made slower alone, so that this is some 30 % of the run, and with all of
them at once. Printed is, for each run, the share of the wall clock that the part has in truth and in the profile, and
the part that is furthest off; --all prints every part.

The bar: no part of any run is off by more than 5 points, percent of the wall clock. Exits 1 where one is. A sleep in a
function that is no part of a training loop is waiting. Of what Stable-Baselines3 takes nothing is known, but what the
cost adds to the part; it is left out where it is not installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = Path(__file__).parent.parent / "tests" / "timed_programs"
BAR = 0.05
ALONE = 0.43  # of what the plain run takes: 30 % of what it takes then
TOGETHER = 1.2
KINDS = ("burn", "sleep", "torch")


@dataclass(frozen=True)
class Program:
    file: str
    needs: str = "gymnasium"

    @property
    def name(self) -> str:
        return self.file.removesuffix(".py").removesuffix("/main")


ALL = (
    Program("inline_vector_ppo.py"),
    Program("path_buffer_ppo.py"),
    Program("functional_reinforce.py"),
    Program("ring_dqn.py"),
    Program("deque_dqn.py"),
    Program("twin_critics.py"),
    Program("tuple_world_a2c.py"),
    Program("wrapped_ddqn.py"),
    Program("agent_update.py"),
    Program("queue_learner.py"),
    Program("workers_ppo/main.py"),
    Program("runner_learner/main.py"),
    Program("functional_td3.py"),
    Program("generator_ppo.py"),
    Program("callback_dqn.py"),
    Program("sb3_callback.py", "stable_baselines3"),
)

QUICK = (
    ("inline_vector_ppo", "advantages", "burn"),
    ("inline_vector_ppo", "all", "sleep"),
    ("path_buffer_ppo", "simulator", "torch"),
    ("functional_reinforce", "other", "burn"),
    ("ring_dqn", "buffer sample", "sleep"),
    ("ring_dqn", "evaluation", "burn"),
    ("deque_dqn", "all", "burn"),
    ("twin_critics", "target networks", "torch"),
    ("tuple_world_a2c", "rendering", "sleep"),
    ("wrapped_ddqn", "wrappers", "burn"),
    ("agent_update", "all", "torch"),
    ("workers_ppo", "waiting", "sleep"),
    ("runner_learner", "buffer write", "sleep"),
    ("functional_td3", "all", "sleep"),
    ("generator_ppo", "advantages", "sleep"),
    ("callback_dqn", "all", "sleep"),
)


@dataclass(frozen=True)
class Outcome:
    """One run: what it knows of itself, and what the profile says. Seconds."""

    seconds: float
    truth: Mapping[str, float]
    costs: Mapping[str, float]
    calls: Mapping[str, int]
    profiled_seconds: float
    profiled: Mapping[str, float]

    def shares(self, plain: Outcome | None = None) -> dict[str, tuple[float, float]]:
        """Of each part, in truth and in the profile."""
        if self.truth:
            names = {name for each in (self.truth, self.profiled) for name, seconds in each.items() if seconds > 0.0}
            return {
                name: (self.truth.get(name, 0.0) / self.seconds, self.profiled.get(name, 0.0) / self.profiled_seconds)
                for name in sorted(names)
            }
        if plain is None:
            return {}
        return {  # what it took before, and the cost
            name: (
                (plain.profiled.get(name, 0.0) + seconds) / self.seconds,
                self.profiled.get(name, 0.0) / self.profiled_seconds,
            )
            for name, seconds in sorted(self.costs.items())
        }


def profile(program: Program, costs: Mapping[str, float] | None = None, kind: str = "burn", size: str = "") -> Outcome:
    """Milliseconds of each cost."""
    with tempfile.TemporaryDirectory() as folder:
        report, truth = Path(folder) / "report.json", Path(folder) / "truth.json"
        variables = {f"COST_{name.upper().replace(' ', '_')}": f"{each:.5f}" for name, each in (costs or {}).items()}
        options = ["--json", str(report), "--no-yardstick", "--quiet", "--folder", folder]
        done = subprocess.run(
            [sys.executable, "-m", "rldebug", "profile", *options, str(PROGRAMS / program.file), *size.split()],
            env={**os.environ, **variables, "COST_KIND": kind, "TRUTH": str(truth), "OMP_NUM_THREADS": "1"},
            cwd=folder, capture_output=True, text=True,
        )  # fmt: skip
        if not truth.exists() or not report.exists():
            raise SystemExit(f"{program.name} failed, exit {done.returncode}:\n{(done.stdout + done.stderr)[-4000:]}")
        known, told = json.loads(truth.read_text()), json.loads(report.read_text())["timing"]
    parts, spent = known["parts"], known["costs"]
    if kind == "sleep" and "other" in spent:
        asleep = spent.pop("other")
        spent["waiting"] = spent.get("waiting", 0.0) + asleep
        if parts:
            parts["other"] -= asleep
            parts["waiting"] = parts.get("waiting", 0.0) + asleep
    return Outcome(known["seconds"], parts, spent, known["calls"], told["seconds"], told["parts"])


def prices(plain: Outcome, part: str) -> dict[str, float]:
    """Milliseconds for one call of the part, or of all."""
    chosen = {part: plain.calls[part]} if part != "all" else plain.calls
    total = (ALONE if part != "all" else TOGETHER) * plain.seconds / len(chosen)
    return {name: 1e3 * total / calls for name, calls in chosen.items()}


def tell(program: Program, part: str, kind: str, shares: Mapping[str, tuple[float, float]], every: bool) -> float:
    """Prints, and gives the largest difference."""
    if not shares:
        return 0.0
    off = {name: told - truth for name, (truth, told) in shares.items()}
    worst = max(off, key=lambda name: abs(off[name]))
    asked = part if part in shares else worst
    if part == "other" and kind == "sleep":
        asked = "waiting"
    verdict = "" if abs(off[worst]) <= BAR else "  MISSED"
    print(f"{program.name:22}{part:17}{kind:7}", end="")
    print(
        f"{shares[asked][0]:8.1%}{shares[asked][1]:9.1%}{off[asked]:+8.1%}   {worst:16}{off[worst]:+7.1%}{verdict}",
        flush=True,
    )
    if every or verdict:
        for name in sorted(shares, key=lambda name: -max(shares[name])):
            truth, told = shares[name]
            if max(truth, told) >= 0.01:
                print(f"{'':22}  {name:22}{truth:8.1%}{told:9.1%}{off[name]:+8.1%}")
    return abs(off[worst])


def wanted(only: str, program: str, part: str, kind: str) -> bool:
    asked = only.split(":") if only else []
    return all(each in ("", is_) for each, is_ in zip(asked, (program, part, kind), strict=False))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="sixteen runs, and the plain ones before them")
    parser.add_argument("--only", default="", metavar="PROGRAM[:PART[:KIND]]", help="part: one of them, plain, or all")
    parser.add_argument("--all", action="store_true", help="every part of every run")
    given = parser.parse_args()
    started, missed, runs = time.monotonic(), [], 0
    print(f"{'program':22}{'made slower':17}{'by':7}{'truth':>8}{'profile':>9}{'off':>8}   {'furthest off':16}")
    for program in ALL:
        if importlib.util.find_spec(program.needs) is None:
            print(f"{program.name:22}not measured: {program.needs} is not installed")
            continue
        chosen = [(part, kind) for name, part, kind in QUICK if name == program.name] if given.quick else None
        if chosen == [] or not wanted(given.only.split(":")[0], program.name, "", ""):
            continue
        plain = profile(program)
        if chosen is None:
            chosen = [("plain", ""), *((part, kind) for part in (*plain.calls, "all") for kind in KINDS)]
        for part, kind in chosen:
            if not wanted(given.only, program.name, part, kind):
                continue
            outcome = plain if part == "plain" else profile(program, prices(plain, part), kind)
            off = tell(program, part, kind, outcome.shares(plain), given.all)
            runs += 1
            if off > BAR:
                missed.append(f"{program.name}:{part}:{kind}")
    print(
        f"\n{runs} runs in {time.monotonic() - started:.0f} s; more than {BAR:.0%} of the wall clock off: {len(missed)}"
    )
    for each in missed:
        print(f"  {each}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
