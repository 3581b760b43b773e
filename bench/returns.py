"""What GAE costs, beside Stable-Baselines3, TorchRL and Tianshou, in one process.

    python bench/returns.py [--rounds N] [--only TxB]

Advantages and value targets of a float32 rollout in which 2 % of the steps end an episode. Every implementation gets
its input in the layout it likes best, prepared beforehand (Tianshou flat, TorchRL batch first), and must agree with a
float64 loop before it is timed; ours is the public `gae`, the checks of its arguments included. They take turns in
short blocks, and the fastest block counts: on a busy machine the others show the neighbours. CPU time of the process,
one thread.

The bars: so many times faster than SB3's rollout buffer, and never slower than TorchRL or Tianshou. Exits 1 when one is
missed, 2 when a peer is not installed.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np
import torch
from numpy.typing import NDArray

from rldebug.parts.returns import gae

try:
    from gymnasium.spaces import Box, Discrete
    from stable_baselines3.common.buffers import RolloutBuffer
    from tianshou.algorithm.algorithm_base import _gae as tianshou_gae
    from torchrl.objectives.value.functional import generalized_advantage_estimate, vec_generalized_advantage_estimate
except ImportError as error:
    print(f"bench/returns.py needs the libraries it compares with ({error}): pip install -e '.[bench]'")
    sys.exit(2)

GAMMA, LAM = 0.99, 0.95
BARS = {(128, 8): 100, (2048, 1): 500, (2048, 64): 50, (128, 4096): 3}  # times faster than SB3
OURS, SB3 = "rldebug gae, numpy", "SB3 RolloutBuffer"
MINE = (OURS, "rldebug gae, truncation too", "rldebug gae, torch CPU")
BLOCK = 2e-3  # seconds: short enough to fall between two interruptions

Floats = NDArray[np.float32]
Call = Callable[[], tuple[object, object]]


class Rollout:
    def __init__(self, steps: int, envs: int) -> None:
        rng = np.random.default_rng(0)
        self.steps, self.envs = steps, envs
        self.reward, self.value = rng.standard_normal((2, steps, envs)).astype(np.float32)
        self.terminated = rng.random((steps, envs)) < 0.02
        self.last_value = rng.standard_normal(envs).astype(np.float32)

    def reference(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        reward, value = self.reward.astype(np.float64), self.value.astype(np.float64)
        advantage, following, carry = np.empty_like(value), self.last_value.astype(np.float64), np.zeros(self.envs)
        for t in reversed(range(self.steps)):
            goes_on = ~self.terminated[t]
            carry = reward[t] + GAMMA * following * goes_on - value[t] + GAMMA * LAM * goes_on * carry
            advantage[t], following = carry, value[t]
        return advantage, advantage + value


def implementations(data: Rollout) -> dict[str, Call]:
    """Each returns (advantage, target), in a layout of its own: `in_time_order` undoes it."""
    reward, value, terminated, last_value = data.reward, data.value, data.terminated, data.last_value
    never, final = np.zeros_like(terminated), np.zeros_like(value)
    tensors = [torch.from_numpy(each) for each in (reward, value, terminated, last_value)]

    def ours() -> tuple[object, object]:
        return gae(reward, value, terminated, last_value=last_value, gamma=GAMMA, lam=LAM)

    def ours_cut() -> tuple[object, object]:
        return gae(reward, value, terminated, never, last_value=last_value, final_value=final, gamma=GAMMA, lam=LAM)

    def ours_torch() -> tuple[object, object]:
        return gae(*tensors[:3], last_value=tensors[3], gamma=GAMMA, lam=LAM)

    buffer = RolloutBuffer(
        data.steps, Box(-1, 1, (1,)), Discrete(2), device="cpu", gae_lambda=LAM, gamma=GAMMA, n_envs=data.envs
    )
    buffer.rewards, buffer.values = reward.copy(), value.copy()
    buffer.episode_starts = np.zeros_like(reward)
    buffer.episode_starts[1:] = terminated[:-1]

    def sb3() -> tuple[object, object]:
        buffer.compute_returns_and_advantage(tensors[3], terminated[-1])
        return buffer.advantages, buffer.returns

    next_value = np.concatenate([value[1:], last_value[None]])
    batch_first = [torch.from_numpy(np.ascontiguousarray(each.T))[..., None] for each in (value, next_value, reward)]
    over = torch.from_numpy(np.ascontiguousarray(terminated.T))[..., None]

    def torchrl() -> tuple[object, object]:
        return generalized_advantage_estimate(GAMMA, LAM, *batch_first, over, over)

    def torchrl_vec() -> tuple[object, object]:
        return vec_generalized_advantage_estimate(GAMMA, LAM, *batch_first, over, over)

    # Tianshou takes one long row, env after env, the last step of each marked as an end.
    ends = terminated.copy()
    ends[-1] = True
    flat = [np.ascontiguousarray(each.T).reshape(-1) for each in (value, next_value * ~terminated, reward, ends)]

    def tianshou() -> tuple[object, object]:
        return tianshou_gae(*flat, GAMMA, LAM), None  # no target: a whole array less to write

    return {
        OURS: ours,
        MINE[1]: ours_cut,
        MINE[2]: ours_torch,
        SB3: sb3,
        "TorchRL generalized": torchrl,
        "TorchRL vectorised": torchrl_vec,
        "Tianshou _gae": tianshou,
    }


def in_time_order(name: str, result: object, data: Rollout) -> NDArray[np.float64]:
    array = np.asarray(result, np.float64)
    if name.startswith(("TorchRL", "Tianshou")):
        return array.reshape(data.envs, data.steps).T
    return array


def check(name: str, call: Call, data: Rollout) -> None:
    for result, wanted in zip(call(), data.reference(), strict=True):
        if result is not None:
            np.testing.assert_allclose(in_time_order(name, result, data), wanted, rtol=1e-3, atol=1e-3, err_msg=name)


def measure(calls: dict[str, Call], rounds: int) -> dict[str, float]:
    """Seconds per call: the fastest block of each, the blocks taking turns."""
    repeats = {}
    for name, call in calls.items():
        call()
        start = time.process_time()
        call()
        repeats[name] = max(1, int(BLOCK / (time.process_time() - start)))
    best = dict.fromkeys(calls, float("inf"))
    for turn in range(rounds):
        for name in calls if turn % 2 == 0 else reversed(calls):
            call, count = calls[name], range(repeats[name])
            if count.stop == 1 and turn % 10:
                continue  # far slower than a block: a few rounds are enough
            start = time.process_time()
            for _ in count:
                call()
            best[name] = min(best[name], (time.process_time() - start) / count.stop)
    return best


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=60)
    options.add_argument("--only", choices=[f"{steps}x{envs}" for steps, envs in BARS])
    chosen = options.parse_args()
    torch.set_num_threads(1)
    missed = 0
    for (steps, envs), bar in BARS.items():
        if chosen.only not in (None, f"{steps}x{envs}"):
            continue
        data = Rollout(steps, envs)
        calls = implementations(data)
        for name, call in calls.items():
            check(name, call, data)
        spent = measure(calls, chosen.rounds)
        mine = spent[OURS]
        print(f"\n({steps}, {envs}){'':20}{'µs':>12}{'× SB3':>10}{'× ours':>10}")
        for name, seconds in spent.items():
            print(f"{name:28}{seconds * 1e6:12.1f}{spent[SB3] / seconds:10.1f}{seconds / mine:10.2f}")
        peers = {name: seconds for name, seconds in spent.items() if name not in (*MINE, SB3)}
        rival = min(peers, key=lambda name: peers[name])
        for claim, ratio, least in (
            (f"{bar} times faster than SB3", spent[SB3] / mine, bar),
            (f"no slower than the fastest other peer ({rival})", peers[rival] / mine, 1),
        ):
            kept = ratio >= least
            missed += not kept
            print(f"bar: {claim}: {'kept' if kept else 'MISSED'} ({ratio:.2f} times)")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
