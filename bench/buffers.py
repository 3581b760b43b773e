"""What a replay buffer costs, beside Stable-Baselines3, TorchRL and Tianshou, in one process.

    python bench/buffers.py [--rounds N] [--only uniform|prioritised|images|add]

Batches of 256 from full buffers of 100 000 and 1 000 000 transitions (8 float32 per observation), uniform and
prioritised; batches of 32 from 8 000 stacks of 84×84×4 bytes; and adding one transition. The buffers take turns in
short blocks, so that a slow moment of the machine hits them all. CPU time of the process, one thread.

The bars: uniform sampling, prioritised sampling with its update, and sampling images are faster than every peer. Exits
1 when one is missed, 2 when a peer is not installed.

Ours returns torch tensors to train on, a fresh copy; so do SB3 (one tensor per field) and TorchRL (a TensorDict).
Tianshou returns numpy arrays in a Batch, still to be turned into tensors. sb3-contrib has no prioritised buffer. Full
buffers are filled all at once, through the arrays themselves where a library has no call for it.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np
import torch
from gymnasium import spaces

from rldebug.parts.buffers import PrioritisedReplay, Replay

try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # TorchRL, on its C++ extension: its row says so
        from stable_baselines3.common.buffers import ReplayBuffer as Sb3Buffer
        from tensordict import TensorDict
        from tianshou.data import Batch, PrioritizedReplayBuffer
        from tianshou.data import ReplayBuffer as TianshouBuffer
        from torchrl.data import LazyTensorStorage, TensorDictPrioritizedReplayBuffer, TensorDictReplayBuffer
except ModuleNotFoundError as missing:
    print(f"{missing.name} is not installed: pip install -e '.[bench]'", file=sys.stderr)
    sys.exit(2)

OURS = "rldebug"
VECTOR = spaces.Box(-np.inf, np.inf, (8,), np.float32)
IMAGE = spaces.Box(0, 255, (4, 84, 84), np.uint8)
ACTION = spaces.Discrete(4)
Data = dict[str, np.ndarray]
Calls = dict[str, Callable[[], object] | str]  # what is timed, or why it cannot be


def transitions(n: int, obs: np.ndarray, next_obs: np.ndarray) -> Data:
    rng = np.random.default_rng(0)
    ends, cut = rng.random(n) < 0.01, rng.random(n) < 0.005
    action, reward = rng.integers(4, size=n), rng.standard_normal(n, np.float32)
    return {
        "obs": obs, "action": action, "reward": reward, "next_obs": next_obs, "terminated": ends, "truncated": cut,
    }  # fmt: skip


def vectors(n: int) -> Data:
    rng = np.random.default_rng(1)
    return transitions(n, rng.standard_normal((n, 8), np.float32), rng.standard_normal((n, 8), np.float32))


# ── full buffers, one function for each library ─────────────────────────────────────────────────────────────────────


def ours(data: Data, *, prioritised: bool = False) -> Replay:
    n = len(data["reward"])
    kept = PrioritisedReplay if prioritised else Replay
    replay = kept(n, VECTOR, ACTION, envs=1000, seed=0)  # 1000 envs, to fill it quickly; sampling is the same
    for start in range(0, n, 1000):
        replay.add(**{name: array[start : start + 1000] for name, array in data.items()})
    return replay


def sb3(data: Data, space: spaces.Box = VECTOR, **options: Any) -> Sb3Buffer:
    n = len(data["reward"])
    buffer = Sb3Buffer(n, space, ACTION, device="cpu", **options)
    buffer.observations[:, 0], buffer.actions[:, 0, 0] = data["obs"], data["action"]
    buffer.rewards[:, 0], buffer.dones[:, 0] = data["reward"], data["terminated"] | data["truncated"]
    if not buffer.optimize_memory_usage:
        buffer.timeouts[:, 0], buffer.next_observations[:, 0] = data["truncated"], data["next_obs"]
    buffer.full = True
    return buffer


def torchrl(data: Data, kept: Any = TensorDictReplayBuffer, *, batch: int = 256, **options: Any) -> Any:
    n = len(data["reward"])
    buffer = kept(storage=LazyTensorStorage(n), batch_size=batch, **options)
    step = max(n // 10, 1)
    for start in range(0, n, step):
        part = {name: torch.from_numpy(array[start : start + step]) for name, array in data.items()}
        buffer.extend(TensorDict(part, batch_size=[len(part["reward"])]))
    return buffer


def tianshou(data: Data, kept: Any = TianshouBuffer, **options: Any) -> Any:
    n = len(data["reward"])
    buffer = kept(n, **options)
    names = {"obs": "obs", "action": "act", "reward": "rew", "next_obs": "obs_next"}
    given = {names.get(name, name): array for name, array in data.items()}
    buffer.set_batch(Batch(**given, done=data["terminated"] | data["truncated"]))
    buffer._size = n
    if kept is PrioritizedReplayBuffer:
        buffer.init_weight(np.arange(n))
    return buffer


# ── what is timed ───────────────────────────────────────────────────────────────────────────────────────────────────


def uniform(data: Data) -> Calls:
    replay, of_sb3, of_torchrl, of_tianshou = ours(data), sb3(data), torchrl(data), tianshou(data)
    return {
        OURS: lambda: replay.sample(256),
        "SB3 ReplayBuffer": lambda: of_sb3.sample(256),
        "TorchRL LazyTensorStorage": lambda: of_torchrl.sample(),
        "Tianshou ReplayBuffer": lambda: of_tianshou.sample(256),
    }


def prioritised(data: Data) -> Calls:
    """Sample and update, with errors that are new at every turn."""
    errors = np.random.default_rng(2).exponential(size=(64, 256)).astype(np.float32)
    turns = {"ours": 0, "torchrl": 0, "tianshou": 0}

    def error(of: str) -> torch.Tensor:
        turns[of] += 1
        return torch.from_numpy(errors[turns[of] % 64])

    replay = ours(data, prioritised=True)
    assert isinstance(replay, PrioritisedReplay)
    of_tianshou = tianshou(data, PrioritizedReplayBuffer, alpha=0.6, beta=0.4)

    def run_ours() -> None:
        batch = replay.sample(256, beta=0.4)
        replay.update(batch.index, error("ours"))

    def run_tianshou() -> None:
        _, index = of_tianshou.sample(256)
        of_tianshou.update_weight(index, error("tianshou"))

    calls: Calls = {OURS: run_ours, "Tianshou PrioritizedReplayBuffer": run_tianshou}
    try:
        of_torchrl = torchrl(data, TensorDictPrioritizedReplayBuffer, alpha=0.6, beta=0.4)

        def run_torchrl() -> None:
            batch = of_torchrl.sample()
            batch["td_error"] = error("torchrl")
            of_torchrl.update_tensordict_priority(batch)

        calls["TorchRL TensorDictPrioritized"] = run_torchrl
    except Exception as broken:  # what a missing C++ extension raises has changed between versions
        calls["TorchRL TensorDictPrioritized"] = f"not available: {broken}"
    return calls


def images() -> tuple[Calls, dict[str, float]]:
    """Also the bytes that a transition takes: all of it in ours, the pixels alone in the others."""
    n = 8000
    frames = np.random.default_rng(3).integers(0, 256, (n + 4, 84, 84), dtype=np.uint8)
    windows = np.lib.stride_tricks.sliding_window_view(frames, 4, axis=0).transpose(0, 3, 1, 2)  # stacks, not copied
    data = transitions(n, windows[:n], windows[1:])
    data |= {"terminated": np.zeros(n, bool), "truncated": np.zeros(n, bool)}  # these frames are one long episode
    replay = Replay(n, IMAGE, ACTION, frames=4, seed=0)
    for i in range(n):
        replay.add(**{name: array[i : i + 1] for name, array in data.items()})
    copied = data | {"obs": np.ascontiguousarray(data["obs"]), "next_obs": np.ascontiguousarray(data["next_obs"])}
    of_sb3, of_torchrl, of_tianshou = sb3(copied, IMAGE), torchrl(copied, batch=32), tianshou(copied)
    lean = sb3(copied, IMAGE, optimize_memory_usage=True, handle_timeout_termination=False)
    last = {name: array for name, array in data.items() if name != "next_obs"} | {"obs": frames[3 : n + 3]}
    stacking = tianshou(last, stack_num=4, ignore_obs_next=True, save_only_last_obs=True)
    calls: Calls = {
        f"{OURS}, frames=4": lambda: replay.sample(32),
        "SB3 ReplayBuffer": lambda: of_sb3.sample(32),
        "SB3, optimize_memory_usage": lambda: lean.sample(32),
        "TorchRL LazyTensorStorage": lambda: of_torchrl.sample(),
        "Tianshou ReplayBuffer": lambda: of_tianshou.sample(32),
        "Tianshou, stack_num=4": lambda: stacking.sample(32),
    }
    one = 4 * 84 * 84
    taken = (replay.nbytes / n, 2 * one, one, 2 * one, 2 * one, 84 * 84)
    return calls, dict(zip(calls, taken, strict=True))


def adding() -> Calls:
    """One transition of one environment, as it comes from the environment; what a library wants it packed in counts."""
    rng = np.random.default_rng(4)
    obs, after = rng.standard_normal((2, 1, 8)).astype(np.float32)
    action, reward, flag = np.array([1]), np.array([0.5]), np.array([False])
    replay, ranked = Replay(100_000, VECTOR, ACTION), PrioritisedReplay(100_000, VECTOR, ACTION)
    of_sb3 = Sb3Buffer(100_000, VECTOR, ACTION, device="cpu")
    of_torchrl = TensorDictReplayBuffer(storage=LazyTensorStorage(100_000), batch_size=256)
    of_tianshou, of_tianshou_ranked = TianshouBuffer(100_000), PrioritizedReplayBuffer(100_000, alpha=0.6, beta=0.4)

    def add_torchrl() -> None:
        tensors = {"obs": torch.from_numpy(obs[0]), "next_obs": torch.from_numpy(after[0]), "action": 1, "reward": 0.5}
        of_torchrl.add(TensorDict({**tensors, "terminated": False, "truncated": False}, batch_size=[]))

    def add_tianshou(buffer: Any) -> None:
        row = {"obs": obs[0], "act": 1, "rew": 0.5, "obs_next": after[0], "terminated": False, "truncated": False}
        buffer.add(Batch(**row, info={}))

    return {
        OURS: lambda: replay.add(obs, action, reward, after, flag, flag),
        f"{OURS}, prioritised": lambda: ranked.add(obs, action, reward, after, flag, flag),
        "SB3 ReplayBuffer": lambda: of_sb3.add(obs, after, action, reward, flag, [{}]),
        "TorchRL LazyTensorStorage": add_torchrl,
        "Tianshou ReplayBuffer": lambda: add_tianshou(of_tianshou),
        "Tianshou PrioritizedReplayBuffer": lambda: add_tianshou(of_tianshou_ranked),
    }


def measure(calls: Calls, rounds: int, each: int) -> dict[str, tuple[float, float]]:
    """Seconds a call takes: the median and the least over rounds, of a block of calls in each."""
    runs = {name: call for name, call in calls.items() if callable(call)}
    spent: dict[str, list[float]] = {name: [] for name in runs}
    for call in runs.values():
        for _ in range(each):
            call()
    for turn in range(rounds):
        for name in runs if turn % 2 == 0 else reversed(runs):
            start = time.process_time()
            for _ in range(each):
                runs[name]()
            spent[name].append((time.process_time() - start) / each)
    return {name: (float(np.median(times)), min(times)) for name, times in spent.items()}


def table(
    title: str, calls: Calls, rounds: int, each: int, *, bar: bool = True, taken: dict[str, float] | None = None
) -> list[str]:
    """Prints it, and says which bars are missed."""
    results = measure(calls, rounds, each)
    first = next(iter(results))
    print(f"\n{title}\n{'':34}{'median µs':>11}{'least µs':>10}{'to ours':>9}{'bytes' if taken else '':>9}")
    missed, open_ = [], []
    for name, call in calls.items():
        if name not in results:
            print(f"{name:34}  {call}")
            open_.append(name)
            continue
        median, least = results[name]
        ratios = median / results[first][0], least / results[first][1]
        size = f"{taken[name]:9,.0f}" if taken else ""
        print(f"{name:34}{median * 1e6:11.1f}{least * 1e6:10.1f}{ratios[0]:8.2f}×{size}")
        # Two estimates, wrong in different ways on a busy machine: a bar is missed when both say so.
        if name != first and max(ratios) <= 1.0:
            missed.append(name)
    if not bar:
        return []
    peers = [name for name in results if name != first and name not in missed]
    print(f"bar: faster than {', '.join(peers)}: kept" if peers else "", end="\n" if peers else "")
    for name in missed:
        print(f"bar: faster than {name}: MISSED")
    for name in open_:
        print(f"bar: faster than {name}: not measured, and so not shown")
    return [f"{title}: {name}" for name in missed]


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=20)
    options.add_argument("--only", choices=["uniform", "prioritised", "images", "add"])
    chosen = options.parse_args()
    torch.set_num_threads(1)
    logging.getLogger("torchrl").setLevel(logging.WARNING)
    missed: list[str] = []
    for n in (100_000, 1_000_000):
        for kind, make in (("uniform", uniform), ("prioritised", prioritised)):
            if chosen.only in (None, kind):
                does = "sample 256" if kind == "uniform" else "sample 256 and update"
                missed += table(f"{kind}, {does}, {n:,} transitions", make(vectors(n)), chosen.rounds, 50)
    if chosen.only in (None, "images"):
        calls, taken = images()
        title = "uniform, sample 32 stacks of 84×84×4, 8,000 transitions; bytes: all of ours, pixels of others"
        missed += table(title, calls, chosen.rounds, 20, taken=taken)
    if chosen.only in (None, "add"):
        table("add one transition (no bar)", adding(), chosen.rounds, 200, bar=False)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
