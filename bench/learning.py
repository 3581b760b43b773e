"""Do the reference algorithms learn? Several seeds each, beside Stable-Baselines3 (and sb3-contrib) at equal steps.

    python bench/learning.py [--seeds N] [--jobs N] [--only TEXT] [--no-peers] [--results FILE]

For every case: the mean greedy return over 10 evaluation episodes after training, by seed; the interquartile mean over
seeds, with its 95 % bootstrap interval; the same for the peer, with the same settings where it has them. Settings are
those of `rldebug train` (`src/rldebug/algos/presets.toml`). Results are kept in a file, so that a second call only runs
what is missing; cases whose packages are not installed are named and left out.

Exits 1 where the interquartile mean misses its bar, or is below the peer's interval.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np

HERE = Path(__file__).parent
EPISODES = 10


@dataclass(frozen=True)
class Case:
    algorithm: str
    env_id: str
    steps: int
    bar: float  # the interquartile mean that must be reached
    needs: str | None = None  # a package
    peer: bool = True

    @property
    def key(self) -> str:
        return f"{self.algorithm} {self.env_id}"


CASES = [
    Case("ppo", "CartPole-v1", 50_000, 475),
    Case("a2c", "CartPole-v1", 200_000, 475),
    Case("vpg", "CartPole-v1", 200_000, 475, peer=False),
    Case("dqn", "CartPole-v1", 100_000, 475),
    Case("trpo", "CartPole-v1", 60_000, 475),
    Case("ppo", "Acrobot-v1", 150_000, -100),
    Case("dqn", "Acrobot-v1", 100_000, -100),
    Case("ppo", "LunarLander-v3", 600_000, 200, needs="Box2D"),
    Case("dqn", "LunarLander-v3", 200_000, 200, needs="Box2D"),
    Case("ppo", "Pendulum-v1", 150_000, -250),
    Case("trpo", "Pendulum-v1", 150_000, -300),
    Case("sac", "Pendulum-v1", 12_000, -200),
    Case("trpo", "Hopper-v5", 200_000, 300, needs="mujoco"),
    Case("ppo", "Hopper-v5", 200_000, 300, needs="mujoco"),
    Case("trpo", "Humanoid-v5", 200_000, 250, needs="mujoco"),
    Case("ppo", "Humanoid-v5", 200_000, 250, needs="mujoco"),
    Case("ppo", "catch:Catch-v0", 60_000, 0.8),
]


def one(case: Case, seed: int, who: str) -> dict[str, Any]:
    """Train and evaluate in this process. Called by `--one`, in a process of its own."""
    import torch

    torch.set_num_threads(1)
    sys.path.insert(0, str(HERE))
    if who == "rldebug":
        import rldebug

        trained = rldebug.train(case.algorithm, case.env_id, steps=case.steps, seed=seed, quiet=True, episodes=EPISODES)
        return {"returns": trained.summary.greedy, "steps_per_second": trained.summary.steps_per_second}
    from learning_peers import train

    return train(case.algorithm, case.env_id, case.steps, seed, EPISODES)


def missing(cases: list[Case], seeds: int, peers: bool, results: dict[str, Any]) -> Iterator[tuple[Case, int, str]]:
    for seed in range(seeds):  # all cases with one seed, then all with the next: what is there is always comparable
        for case in cases:
            for who in ("rldebug", "peer"):
                if f"{case.key} {who} {seed}" not in results and (who == "rldebug" or (peers and case.peer)):
                    yield case, seed, who


def in_a_process(case: Case, seed: int, who: str) -> dict[str, Any]:
    command = [sys.executable, __file__, "--one", case.key, str(seed), who]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-1:] or [f"exit status {done.returncode}"]}
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def iqm(values: np.ndarray[Any, Any]) -> float:
    """The mean of the middle half."""
    ordered = np.sort(values, axis=-1)
    cut = ordered.shape[-1] // 4
    return ordered[..., cut : ordered.shape[-1] - cut].mean(axis=-1)  # type: ignore[no-any-return]


def interval(values: np.ndarray[Any, Any]) -> tuple[float, float]:
    drawn = np.random.default_rng(0).choice(values, size=(10_000, len(values)))
    low, high = np.quantile(iqm(drawn), (0.025, 0.975))
    return float(low), float(high)


def scores(results: dict[str, Any], case: Case, who: str, seeds: int) -> np.ndarray[Any, Any]:
    found = [results.get(f"{case.key} {who} {seed}", {}).get("returns") for seed in range(seeds)]
    return np.array([np.mean(each) for each in found if each])


def row(results: dict[str, Any], case: Case, seeds: int) -> tuple[str, list[str]]:
    mine, theirs = scores(results, case, "rldebug", seeds), scores(results, case, "peer", seeds)
    head = f"| {case.algorithm} | {case.env_id} | {case.steps:,}".replace(",", " ")
    if len(mine) < seeds:
        return f"{head} | not run | | {case.bar:g} |", []
    score, (low, high) = float(iqm(mine)), interval(mine)
    wrong = [] if score >= case.bar else [f"{case.key}: {score:.1f}, below its bar of {case.bar:g}"]
    if len(theirs) >= 3:
        peer_low, peer_high = interval(theirs)
        fewer = "" if len(theirs) == seeds else f"; {len(theirs)} seeds"
        beside = f"{iqm(theirs):.1f} ({peer_low:.1f} … {peer_high:.1f}{fewer})"
        if high < peer_low:
            wrong.append(f"{case.key}: {score:.1f}, below the peer's interval {beside}")
    elif len(theirs):  # too few for an interval: as they are
        beside = f"single seeds: {', '.join(f'{each:.1f}' for each in theirs)}"
    else:
        beside = "not run" if case.peer else "–"
    return f"{head} | {score:.1f} ({low:.1f} … {high:.1f}) | {beside} | {case.bar:g} |", wrong


def table(results: dict[str, Any], cases: list[Case], seeds: int) -> tuple[str, list[str]]:
    lines = ["| algorithm | environment | steps | rldebug | peer | bar |", "|---|---|---|---|---|---|"]
    wrong: list[str] = []
    for case in cases:
        line, complaints = row(results, case, seeds)
        lines.append(line)
        wrong += complaints
    failed = [f"{key}: {each['failed'][0]}" for key, each in results.items() if "failed" in each]
    return "\n".join(lines), wrong + failed


def run(
    cases: list[Case], seeds: int, jobs: int, peers: bool, file: Path, tick: Callable[[str], None]
) -> dict[str, Any]:
    results: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}

    def work(item: tuple[Case, int, str]) -> None:
        case, seed, who = item
        results[f"{case.key} {who} {seed}"] = answer = in_a_process(case, seed, who)
        file.write_text(json.dumps(dict(results), indent=1))
        tick(
            f"{case.key}, {who}, seed {seed}: {np.mean(answer['returns']):.1f}" if "returns" in answer else str(answer)
        )

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(work, list(missing(cases, seeds, peers, results))))
    return results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", help="cases whose name contains this, such as 'ppo' or 'CartPole'")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--results", type=Path, default=Path("learning.json"))
    parser.add_argument("--one", nargs=3, metavar=("CASE", "SEED", "WHO"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        case = next(each for each in CASES if each.key == asked.one[0])
        print(json.dumps(one(case, int(asked.one[1]), asked.one[2])))
        return 0
    wanted = [each for each in CASES if asked.only is None or asked.only in each.key]
    cases = [each for each in wanted if each.needs is None or importlib.util.find_spec(each.needs) is not None]
    for each in wanted:
        if each not in cases:
            print(f"left out, {each.needs} is not installed: {each.key} (pip install -e '.[bench]')", file=sys.stderr)
    results = run(
        cases,
        asked.seeds,
        asked.jobs,
        not asked.no_peers,
        asked.results,
        lambda text: print(text, file=sys.stderr, flush=True),
    )
    text, wrong = table(results, cases, asked.seeds)
    print(f"Interquartile mean of {asked.seeds} seeds (95 % interval), {EPISODES} greedy episodes each\n\n{text}")
    for each in wrong:
        print(f"MISSED {each}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
