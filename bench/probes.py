"""What `rldebug probe` costs, what it finds, and what it finds where nothing is wrong.

    python bench/probes.py                  time: the first five rungs, and whole ladders on two processes
    python bench/probes.py --bugs           every planted bug: the rung that fails first, and the first suspect
    python bench/probes.py --sound          every sound algorithm with five seeds: nothing may fail
    … --only ppo_end_ignored,algo:dqn       some of them; --jobs N: rungs side by side

The bars: ≤ 5 s for the first five rungs with our PPO and DQN, ≤ 45 s with SB3's PPO at its own settings, in CPU time of
one process, since a busy machine tells nothing else; ≤ 180 s of wall clock for a whole ladder on two processes; rung
and suspect right for 85 % of the bugs; no sound algorithm fails any rung. Exits 1 when a bar is missed. A bug climbs to
the rung it should fail first, and those that tell bugs apart; with --whole, all.

Beside it stand AgileRL's checks on its own probe environments, where that library is installed; where it is not, the
table says so. Stable-Baselines3 is optional too.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(name, "1")
sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.planted_algos import plant

from rldebug.evidence.ladder import Ladder
from rldebug.probe import climb_ladder, report_on
from rldebug.probes.shelf import probes

FIVE = tuple(each.name for each in probes()[:5])
FIVE_BAR = {"algo:ppo": 5.0, "algo:dqn": 5.0, "sb3:PPO": 45.0}  # seconds of CPU time
WHOLE_BAR, BUGS_BAR = 180.0, 0.85
OURS = tuple(f"algo:{each}" for each in ("ppo", "a2c", "vpg", "trpo", "dqn", "sac"))
SB3 = tuple(f"sb3:{each}" for each in ("PPO", "A2C", "DQN", "SAC", "TD3", "DDPG"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bugs", action="store_true", help="planted bugs: rung and suspect")
    parser.add_argument("--sound", action="store_true", help="sound algorithms: false failures")
    parser.add_argument("--whole", action="store_true", help="of --bugs: all rungs")
    parser.add_argument("--only", default="", help="names, with commas between")
    parser.add_argument("--jobs", type=int, default=2, help="rungs side by side")
    parser.add_argument("--seeds", type=int, default=5, help="of --sound")
    chosen = parser.parse_args()
    only = tuple(filter(None, chosen.only.split(",")))
    if chosen.bugs:
        return bugs(_among(plant.bugs(), only), chosen.jobs, chosen.whole)
    if chosen.sound:
        return sound(_among(_there(), only), chosen.jobs, chosen.seeds)
    return times(_among(_there(), only), chosen.jobs)


def times(targets: Iterable[str], jobs: int) -> int:
    """The first five rungs in this process, then the whole ladder on several."""
    chosen = tuple(targets)
    missed = 0
    print(f"{'first five rungs':24s} {'CPU s':>8s} {'wall s':>8s} {'bar':>6s}")
    for target, bar in FIVE_BAR.items():
        if target not in chosen:
            why = "not chosen" if _installed(target) else "not installed here"
            print(f"{target:24s} {'-':>8s} {'-':>8s} {bar:6.0f}  {why}")
            continue
        cpu, wall = time.process_time(), time.perf_counter()
        ladder = climb_ladder(target, probes=FIVE, defaults=target.startswith("sb3:"))
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        late = cpu > bar
        missed += late or not ladder.passed(*FIVE)
        print(f"{target:24s} {cpu:8.1f} {wall:8.1f} {bar:6.0f}  {_outcomes(ladder)}{'  MISSED' if late else ''}")
    print("AgileRL's checks         " + _agilerl())
    print(f"\n{f'whole ladder, {jobs} processes':24s} {'':8s} {'wall s':>8s} {'bar':>6s}")
    for target in chosen:
        if not target.startswith("algo:"):
            continue
        wall = time.perf_counter()
        ladder = climb_ladder(target, jobs=jobs)
        wall = time.perf_counter() - wall
        late = wall > WHOLE_BAR
        missed += late
        print(f"{target:24s} {'':8s} {wall:8.1f} {WHOLE_BAR:6.0f}  {_outcomes(ladder)}{'  MISSED' if late else ''}")
    return 1 if missed else 0


def bugs(names: Iterable[str], jobs: int, whole: bool) -> int:
    """Each planted bug: both must be right, the rung that fails first and the component that is suspected most."""
    good, total = 0, 0
    print(f"{'bug':32s} {'fails first':24s} {'suspect':18s} {'s':>5s}")
    for name in names:
        bug = plant.bug(name)
        ladder = plant.ladder_of(plant.target_of(bug), None if whole else plant.telling(bug), jobs=jobs)
        report = report_on(ladder)
        trouble = plant.first_trouble(ladder)
        rung = "none" if trouble is None else trouble.name
        suspect = report.suspects[0].component if report.suspects else "none"
        right = rung == bug.RUNG and suspect in {bug.SUSPECT, *getattr(bug, "ALSO", {})}
        wanted = "" if right else f"  wanted {bug.RUNG}, {bug.SUSPECT}"
        print(f"{name:32s} {rung:24s} {suspect:18s} {ladder.seconds:5.0f}{wanted}", flush=True)
        good, total = good + right, total + 1
    share = good / max(total, 1)
    print(f"\n{good} of {total} right: {share:.0%} (bar {BUGS_BAR:.0%})")
    return 0 if share >= BUGS_BAR else 1


def sound(targets: Iterable[str], jobs: int, seeds: int) -> int:
    """Each sound algorithm, several times from other seeds: what fails is a false alarm."""
    false = 0
    print(f"{'target':12s} {'seed':>4s} {'passed':>7s} {'failed':>7s} {'undecided':>10s} {'apply not':>10s} {'s':>6s}")
    for target in targets:
        for seed in range(0, 10 * seeds, 10):  # an attempt takes the next one: ladders must not share any
            ladder = climb_ladder(target, seed=seed, jobs=jobs)
            count = {each: sum(rung.outcome == each for rung in ladder.rungs) for each in _OUTCOMES}
            wrong = [each for each in ladder.rungs if each.outcome in ("failed", "crashed")]
            false += len(wrong) + (not wrong and not report_on(ladder).clean)
            named = ", ".join(f"{each.name}: {each.reason}" for each in wrong)
            open_ = ", ".join(each.name for each in ladder.rungs if each.outcome == "undecided")
            print(
                f"{target:12s} {seed:4d} {count['passed']:7d} {count['failed']:7d} {count['undecided']:10d} "
                f"{count['not applicable']:10d} {ladder.seconds:6.0f}  {named}{open_ and f'  ({open_})'}",
                flush=True,
            )
    print(f"\n{false} false failures (bar 0)")
    return 1 if false else 0


_OUTCOMES = ("passed", "failed", "undecided", "not applicable")


def _outcomes(ladder: Ladder) -> str:
    count = {each: sum(rung.outcome == each for rung in ladder.rungs) for each in (*_OUTCOMES, "crashed", "not run")}
    return ", ".join(f"{number} {each}" for each, number in count.items() if number)


def _there() -> tuple[str, ...]:
    return OURS + tuple(each for each in SB3 if _installed(each))


def _installed(target: str) -> bool:
    return target.startswith("algo:") or importlib.util.find_spec("stable_baselines3") is not None


def _agilerl() -> str:
    if importlib.util.find_spec("agilerl") is None:
        return "not importable here: nothing to compare with"
    return "importable here, but this script does not run them yet: nothing to compare with"


def _among(names: Iterable[str], only: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(each for each in names if not only or each in only)


if __name__ == "__main__":
    sys.exit(main())
