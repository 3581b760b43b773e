"""Makes src/rldebug/render/healthy_bands.json: in which range readings lie while sound programs learn.

    python scripts/healthy_bands.py --runs FOLDER [--jobs 2] [--through COMMAND]

The programs: our reference algorithms on small tasks, and the healthy programs of the development half of the bug
corpus, each with several seeds, under `rldebug run --record-only`. Records are kept in FOLDER, and taken from there
where they are there already: what was stopped goes on where it was. A program whose libraries are not installed is
left out, and said so. Some 25 minutes of one core in all.

`rldebug.render.bands` says what a band is, and by what the readings were chosen.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldebug.benchmark.corpus import HEALTHY, read_corpus
from rldebug.benchmark.program import arguments, lay_out
from rldebug.catalogue import metrics
from rldebug.evidence.run import read_run
from rldebug.evidence.script import read_script
from rldebug.forensics.program import program_of

Array = NDArray[np.float64]

HOME = Path(__file__).parents[1]
CORPUS = HOME / "bench" / "bugs" / "corpus"
FILE = HOME / "src" / "rldebug" / "render" / "healthy_bands.json"
SECONDS = 1500  # for one program, at most

SHARES = tuple(i / 9 for i in range(10))  # of a run's updates, where a band is given
TAIL, MARGIN = 0.025, 0.15  # left out at either end; then added, in widths of the range
READINGS = 5  # of a run, at least
FEWEST, FARTHEST, INSIDE = 3, 1.5, 0.9  # environments, their medians in ranges, readings in the band of the others
UNITS = ("share", "correlation", "ratio", "relative error", "probability", "nats", "standard errors")
# Later in a run, fewer updates after a rollout are looked at: what grows with these seems to fall.
LEVEL = ("policy/", "advantage/")
SCALE_FREE = ("step/log10_ratio", "step/unchanged")  # the unit of their metric is that of its other readings


@dataclass(frozen=True)
class Reference:
    """A sound program with one seed: a reference algorithm on an environment, or a program of the corpus."""

    family: str  # as `rldebug run` is to tell it
    name: str
    seed: int
    words: tuple[str, ...] = ()  # of `rldebug train`; none: it is a program of the corpus

    @property
    def folder(self) -> str:
        return f"{self.name.replace(' ', '-').lower()}-{self.seed}"


def ours(family: str, algorithm: str, env: str, steps: int, *settings: str, name: str = "") -> list[Reference]:
    more = [word for each in settings for word in ("--set", each)]
    words = ("train", algorithm, "--env", env, "--steps", str(steps), "--quiet", "--episodes", "1", *more)
    return [Reference(family, name or f"{algorithm} {env}", seed, words) for seed in (1, 2, 3)]


def base(family: str, name: str, *seeds: int) -> list[Reference]:
    return [Reference(family, name, seed) for seed in seeds or (1, 2, 3)]


REFERENCES: tuple[Reference, ...] = (
    *ours("ppo", "ppo", "CartPole-v1", 20_000),
    *ours("ppo", "ppo", "Acrobot-v1", 30_000),
    *ours("ppo", "ppo", "Pendulum-v1", 20_000),
    *base("ppo", "ppo_gaussian_by_hand", 1, 2),
    *base("ppo", "masked_ppo", 1, 2),
    *base("ppo", "sb3_ppo_script", 1, 2),
    *ours("actor-critic", "a2c", "CartPole-v1", 40_000),
    *ours("actor-critic", "a2c", "Acrobot-v1", 40_000),
    *ours("actor-critic", "a2c", "Pendulum-v1", 40_000, "gamma=0.9"),
    *ours("actor-critic", "vpg", "CartPole-v1", 30_000),
    *ours("actor-critic", "vpg", "Acrobot-v1", 40_000, "critic_steps=20"),
    *ours("policy-gradient", "vpg", "CartPole-v1", 40_000, "baseline=false", "steps=64", name="reinforce CartPole-v1"),
    *ours("policy-gradient", "vpg", "Acrobot-v1", 60_000, "baseline=false", "steps=128", name="reinforce Acrobot-v1"),
    *ours("policy-gradient", "vpg", "Pendulum-v1", 60_000, "baseline=false", "steps=128", name="reinforce Pendulum-v1"),
    *ours("q-learning", "dqn", "CartPole-v1", 15_000),
    *ours("q-learning", "dqn", "Acrobot-v1", 15_000),
    *base("q-learning", "lives_env"),
    *base("q-learning", "image_catch", 1, 2),
    *base("q-learning", "rainbow_parts", 1, 2),
    *ours("actor-critic-off-policy", "sac", "Pendulum-v1", 2_500),
    *base("actor-critic-off-policy", "sac_single_file"),
    *base("actor-critic-off-policy", "ddpg_seminar"),
    *base("actor-critic-off-policy", "sb3_sac_script", 1, 2),
)


# ── the runs ──


def record(reference: Reference, runs: Path, through: Sequence[str]) -> str:
    """Watch it to its end. What went wrong, or nothing."""
    target = runs / reference.folder
    if (target / "run.json").is_file():
        return ""
    with tempfile.TemporaryDirectory() as made:
        program = ["-m", "rldebug", *reference.words, "--seed", str(reference.seed), "--folder", f"{made}/kept"]
        if not reference.words:
            cases = read_corpus(CORPUS).only([f"{reference.name}/{HEALTHY}"], "development").cases
            case = next(each for each in cases if each.seed == reference.seed)
            if missing := case.base.missing():
                return missing
            lay_out(case, Path(made))
            program = [case.base.entry, *arguments(case)]
        watch = ["-m", "rldebug", "run", "--record-only", "--frames", "0", "--overhead-budget", "0.2"]
        where = ["--folder", f"{made}/runs", "--name", "it"]
        ended = subprocess.run(
            [*through, sys.executable, *watch, *where, *program],
            cwd=made,
            env={**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        if ended.returncode:
            return f"ended with {ended.returncode}: {ended.stderr.strip()[-300:]}"
        shutil.move(f"{made}/runs/it", target)  # only what is whole is there
    return ""


# ── the bands ──


@dataclass(frozen=True)
class Piece:
    """One reading over one run. Where several optimizers take it, of all of them."""

    family: str
    environment: str  # the program too: each is run on one environment
    share: Array  # of the run's updates
    value: Array


@dataclass(frozen=True)
class Judged:
    """A reading of a family: its band, and whether it deserves one."""

    low: Array
    high: Array
    runs: int
    environments: int
    apart: float  # how far the environments' medians are apart, in ranges of one environment
    inside: float  # share of an environment's readings inside the band of the others; mean over environments

    @property
    def dropped(self) -> str:
        if self.environments < FEWEST:
            return f"only {self.environments} environments"
        if self.apart > FARTHEST:
            return f"environments {self.apart:.1f} ranges apart"
        return "" if self.inside >= INSIDE else f"{self.inside:.0%} inside"


def pieces(runs: Path) -> dict[str, list[Piece]]:
    """By name, of all records. Where the family is told wrongly, a chart would show the bands of another: left out."""
    found: dict[str, list[Piece]] = {}
    for reference in REFERENCES:
        folder = runs / reference.folder
        script = read_script(folder) if (folder / "run.json").is_file() else None
        family = None if script is None else program_of(script).get("family")
        if script is not None and family != reference.family:
            print(f"{reference.folder}: told to be {family}, not {reference.family}: left out")
        if family != reference.family:
            continue
        run = read_run(folder)
        last = max(run.updates - 1, 1)
        for name in sorted({each.partition("@")[0] for each in run.series}):
            kept = [each.finite for each in run.each(name)]
            share = np.concatenate([each.update for each in kept]) / last
            value = np.concatenate([each.value for each in kept])
            if len(value) >= READINGS:
                found.setdefault(name, []).append(Piece(family, reference.name, share, value))
    return found


def ranges(given: Sequence[Piece], limits: tuple[float, float], level: bool) -> tuple[Array, Array]:
    """The band at every share, or a level one around all of them. All environments count alike, however many runs or
    readings are of them."""
    environments = Counter(each.environment for each in given)
    share = np.concatenate([each.share for each in given])
    value = np.concatenate([each.value for each in given])
    owner = np.concatenate([np.full(len(each.value), i) for i, each in enumerate(given)])
    low, high = np.full((2, len(SHARES)), np.nan)
    for place, at in enumerate(SHARES):
        near = np.abs(share - at) <= 1.0 / (len(SHARES) - 1)
        counts = np.bincount(owner[near], minlength=len(given))
        weights = [
            1.0 / (counts[i] * environments[each.environment]) if counts[i] else 0.0 for i, each in enumerate(given)
        ]
        if near.any():
            low[place], high[place] = _quantiles(value[near], np.array(weights)[owner[near]])
    known = np.isfinite(low)
    low, high = (np.interp(SHARES, np.array(SHARES)[known], each[known]) for each in (low, high))
    if level:
        low, high = np.full_like(low, low.min()), np.full_like(high, high.max())
    margin = MARGIN * (high - low)
    return np.clip(low - margin, *limits), np.clip(high + margin, *limits)


def _quantiles(value: Array, weight: Array) -> tuple[float, float]:
    order = np.argsort(value)
    reached = np.cumsum(weight[order])
    middle = (reached - weight[order] / 2) / reached[-1]
    low, high = np.interp((TAIL, 1 - TAIL), middle, value[order])
    return float(low), float(high)


def judge(given: Sequence[Piece], level: bool) -> Judged:
    value = np.concatenate([each.value for each in given])
    limits = next(
        (each for each in ((0.0, 1.0), (-1.0, 1.0), (0.0, np.inf)) if _within(value, each)), (-np.inf, np.inf)
    )
    low, high = ranges(given, limits, level)
    names = sorted({each.environment for each in given})
    of = {name: [each for each in given if each.environment == name] for name in names}
    together = {name: np.concatenate([each.value for each in some]) for name, some in of.items()}
    medians = [float(np.median(each)) for each in together.values()]
    widths = [float(np.subtract(*np.quantile(each, (1 - TAIL, TAIL)))) for each in together.values()]
    spread = max(medians) - min(medians)
    shares = []
    for name in names:
        others = [each for each in given if each.environment != name]
        if others:
            left_low, left_high = ranges(others, limits, level)
            shares += [np.mean([_inside(each, left_low, left_high) for each in of[name]])]
    return Judged(
        low,
        high,
        runs=len(given),
        environments=len(names),
        apart=0.0 if spread == 0 else spread / max(float(np.median(widths)), 1e-12),
        inside=float(np.mean(shares)) if shares else 0.0,
    )


def _within(value: Array, limits: tuple[float, float]) -> bool:
    return bool((value >= limits[0] - 1e-6).all() and (value <= limits[1] + 1e-6).all())


def _inside(piece: Piece, low: Array, high: Array) -> float:
    near = 1e-9 + 1e-6 * np.abs(piece.value)  # of rounding
    above = piece.value >= np.interp(piece.share, SHARES, low) - near
    return float(np.mean(above & (piece.value <= np.interp(piece.share, SHARES, high) + near)))


def scale_free(name: str, units: dict[str, str]) -> bool:
    """Whether its unit is one that neither a reward's size nor a network's changes."""
    unit = units.get(name, "")
    return name in SCALE_FREE or (unit.startswith(UNITS) and "return" not in unit and not name.endswith("_count"))


def bands(runs: Path) -> dict[str, Any]:
    """What the file holds; a table of all that was looked at is printed."""
    units = {name: each.unit for each in metrics() if each.kind == "number" for name in each.names}
    found = pieces(runs)
    families: dict[str, Any] = {}
    print(f"\n{'family':24} {'reading':26} {'runs':>4} {'envs':>4} {'range':>22} {'apart':>6} {'inside':>6}")
    for family in sorted({each.family for some in found.values() for each in some}):
        for name, some in sorted(found.items()):
            given = [each for each in some if each.family == family]
            if not given or not scale_free(name, units):
                continue
            judged = judge(given, name.startswith(LEVEL))
            span = f"{judged.low.min():.3g} … {judged.high.max():.3g}"
            print(
                f"{family:24} {name:26} {judged.runs:4} {judged.environments:4} {span:>22} {judged.apart:6.2f} "
                f"{judged.inside:6.0%}  {judged.dropped}"
            )
            if not judged.dropped:
                rows = {side: [float(f"{each:.5g}") for each in getattr(judged, side)] for side in ("low", "high")}
                families.setdefault(family, {})[name] = {"runs": judged.runs, **rows}
    return {"share": [round(each, 4) for each in SHARES], "families": families}


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--runs", type=Path, required=True, help="where the records are kept")
    options.add_argument("--jobs", type=int, default=1, help="programs side by side")
    options.add_argument("--through", default="", help="what each program is started by: nice -n 10, say")
    options.add_argument("--recorded", action="store_true", help="start no program: only what is recorded already")
    args = options.parse_args()
    args.runs.mkdir(parents=True, exist_ok=True)
    through = shlex.split(args.through)
    queue = [] if args.recorded else sorted(REFERENCES, key=lambda each: each.seed)  # some of each, if it is stopped
    with ThreadPoolExecutor(args.jobs) as pool:
        for each, problem in zip(queue, pool.map(lambda one: record(one, args.runs, through), queue), strict=True):
            print(f"{each.folder:36} {problem or 'recorded'}", flush=True)
    data = bands(args.runs)
    # A line for each reading: what a new set of runs changes can be read.
    rows = [
        f'  "{family}": {{\n' + ",\n".join(f'   "{name}": {json.dumps(each)}' for name, each in named.items()) + "\n  }"
        for family, named in data["families"].items()
    ]
    text = f'{{\n "share": {json.dumps(data["share"])},\n "families": {{\n' + ",\n".join(rows) + "\n }\n}\n"
    FILE.write_text(text, encoding="utf-8")
    print(f"\nwrote {FILE.relative_to(HOME)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
