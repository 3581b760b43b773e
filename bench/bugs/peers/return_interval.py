"""The plain test: is the mean return of this program's seeds below what healthy seeds let one expect?

    python return_interval.py CASE.json REPORT.json

Healthy returns x₁…xₙ and m seeds of this program: the mean of m new healthy seeds lies, with probability 95 %, within
mean(x) ± t(0.975, n−1) · sd(x) · √(1/n + 1/m), the prediction interval for a mean of m if returns are normal. A mean
below its lower end is the one finding, and it names no component. A seed that crashed counts as acting at random. What
people do by eye, with the healthy twin that they do not have.
"""

from __future__ import annotations

import math
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from recorder import Case, Finding, NotApplicable, answer

_T = {2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 10: 2.228}  # 0.975 quantiles
_SEEDS = 5


def judge(case: Case) -> list[Finding]:
    random = case.measured.get("random")
    healthy, own = (_scores(case.measured.get(each, ()), random) for each in ("healthy", "this"))
    own = own[:_SEEDS]
    if len(healthy) < 3 or not own:
        raise NotApplicable(f"needs 3 healthy seeds and one of this program, and has {len(healthy)} and {len(own)}")
    n, m = len(healthy), len(own)
    centre, spread = statistics.fmean(healthy), statistics.stdev(healthy)
    lowest = centre - _T.get(n - 1, 1.96) * spread * math.sqrt(1 / n + 1 / m)
    mean = statistics.fmean(own)
    if not mean < lowest:
        return []
    text = f"mean return {mean:.4g} of {m} seeds; {m} healthy seeds would give at least {lowest:.4g} (95 %)"
    return [Finding("return-below-interval", "", "warning", text)]


def _scores(given: list[float | None], random: float | None) -> list[float]:
    scores = [random if each is None or not math.isfinite(each) else each for each in given]
    return [each for each in scores if each is not None]


if __name__ == "__main__":
    answer(judge)
