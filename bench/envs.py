"""Does `rldebug env` stay quiet on environments that are known to be sound?

    python bench/envs.py [--only TEXT] [--seconds N]

Every shipped environment below is played and examined; printed are the time it took and what was found. Those whose
package is not installed are named and left out. Exits 1 where there is an error, a warning or a rule that broke.
"""

from __future__ import annotations

import argparse
import os
import sys
import time

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(name, "1")
os.environ.setdefault("SDL_VIDEODRIVER", "dummy")

from rldebug.env import check_env
from rldebug.parts.make import EnvError

CLASSIC = ("CartPole-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Acrobot-v1", "Pendulum-v1")
TEXT = ("FrozenLake-v1", "FrozenLake8x8-v1", "Taxi-v4", "CliffWalking-v1", "Blackjack-v1")
BOX2D = ("LunarLander-v3", "LunarLanderContinuous-v3", "BipedalWalker-v3", "BipedalWalkerHardcore-v3", "CarRacing-v3")
MUJOCO = ("InvertedPendulum-v5", "InvertedDoublePendulum-v5", "Reacher-v5", "Pusher-v5", "Swimmer-v5", "Hopper-v5")
MUJOCO += ("HalfCheetah-v5", "Walker2d-v5", "Ant-v5", "Humanoid-v5", "HumanoidStandup-v5")
ATARI = ("ALE/Pong-v5", "ALE/Breakout-v5", "ALE/Skiing-v5", "ALE/MontezumaRevenge-v5", "ALE/Freeway-v5")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="ids that contain this")
    parser.add_argument("--seconds", type=float, default=30.0, help="as check_env has it")
    given = parser.parse_args()
    print(f"{'environment':28} {'seconds':>7} {'errors':>6} {'warnings':>8} {'notes':>5}  codes")
    alarms = 0
    for env_id in (*CLASSIC, *TEXT, *BOX2D, *MUJOCO, *ATARI):
        if given.only not in env_id:
            continue
        started = time.perf_counter()
        try:
            report = check_env(env_id, seconds=given.seconds)
        except EnvError as missing:
            print(f"{env_id:28} left out: {missing}", flush=True)
            continue
        took = time.perf_counter() - started
        counts = [sum(each.severity == kind for each in report.findings) for kind in ("error", "warning", "note")]
        codes = " ".join(dict.fromkeys(each.code for each in report.findings))
        broken = f"  broken: {' '.join(report.broken)}" if report.broken else ""
        print(f"{env_id:28} {took:7.1f} {counts[0]:6} {counts[1]:8} {counts[2]:5}  {codes}{broken}", flush=True)
        for each in report.findings:
            if each.severity != "note":
                print(f"    {each.severity}[{each.code}] {each.message}: {each.seen}", flush=True)
        alarms += counts[0] + counts[1] + len(report.broken)
    return 1 if alarms else 0


if __name__ == "__main__":
    sys.exit(main())
