"""Whether `rldebug run` keeps its memory: a long cheap program, with and without.

    python bench/memory.py [--steps N]

What is remembered of environments grows until 2¹⁸ observations are held, and is halved then. Past that the process must
stay as it is: what it takes in the last third of the run is compared with what it took in the third before. Updates are
half as many as steps; the default is 300 000 of them, a few minutes, and what they show is extrapolated to a million.
Exits 1 where it grows by more than 8 MiB in the last third.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = Path(__file__).parent / "programs" / "long_run.py"
_MAY_GROW = 8.0  # MiB


def sizes(steps: int, watched: bool) -> list[float]:
    """MiB, at twenty moments of the run."""
    with tempfile.TemporaryDirectory() as folder:
        start = ["-m", "rldebug", "run", "--record-only", "--folder", folder] if watched else []
        done = subprocess.run(
            [sys.executable, *start, str(PROGRAM), str(steps)],
            env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return [float(line.split()[2]) for line in done.stdout.splitlines() if line.endswith("MiB")]


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--steps", type=int, default=600_000)
    steps = options.parse_args().steps
    bare, watched = sizes(steps // 4, False), sizes(steps, True)  # bare it is level from the start
    third = len(watched) // 3
    before, after = max(watched[third : 2 * third]), max(watched[2 * third :])
    for name, each in (("bare", bare), ("watched", watched)):
        print(f"{name:8} MiB: {' '.join(f'{size:.0f}' for size in each)}")
    million = (after - before) * 1e6 / (steps / 2 / 3)
    print(
        f"watched takes {max(watched) - max(bare):.0f} MiB more; grows by {after - before:+.1f} MiB in the last third, "
        f"{steps // 6:,} updates: {million:+.0f} MiB in a million, if it went on like that"
    )
    return 1 if after - before > _MAY_GROW else 0


if __name__ == "__main__":
    sys.exit(main())
