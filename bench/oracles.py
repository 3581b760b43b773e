"""Do the oracles find sound implementations sound, and wrong ones wrong? Prints tables; exits 1 where a bar is missed.

    python bench/oracles.py            # the libraries' own implementations, the planted functions, the time
    python bench/oracles.py --peers    # only the libraries

Bars: every library's implementation verifies clean, at least 80 % of them without a mapping or adapter; every planted
mistake is detected, 95 % are named; no sound planted function is called wrong; the median `rldebug verify` takes at
most five seconds as a process.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))  # the planted functions lie with the tests

from tests import planted_functions

from rldebug.oracles.shelf import find, oracles
from rldebug.oracles.verification import verification_of
from rldebug.target import load

NO_MAPPING, NAMED, SECONDS = 0.8, 0.95, 5.0


@dataclass(frozen=True)
class Peer:
    component: str
    library: str
    target: str  # module:name, or what an adapter calls
    adapter: Callable[[], Any] | None = None


# ── two-line adapters, for what is not a function of its own ──


def sb3_squashed() -> Any:
    from stable_baselines3.common.distributions import SquashedDiagGaussianDistribution

    def log_prob(mean, log_std, actions):
        distribution = SquashedDiagGaussianDistribution(actions.shape[-1]).proba_distribution(mean, log_std)
        return distribution.log_prob(actions)

    return log_prob


def sb3_gaussian_entropy() -> Any:
    from stable_baselines3.common.distributions import DiagGaussianDistribution

    def entropy(mean, log_std):
        return DiagGaussianDistribution(mean.shape[-1]).proba_distribution(mean, log_std).entropy()

    return entropy


def sb3_categorical_entropy() -> Any:
    from stable_baselines3.common.distributions import CategoricalDistribution

    def entropy(logits):
        return CategoricalDistribution(logits.shape[-1]).proba_distribution(logits).entropy()

    return entropy


def torchrl_tanh_normal() -> Any:
    from torchrl.modules import TanhNormal

    def log_prob(mean, std, actions):
        return TanhNormal(mean, std, event_dims=1).log_prob(actions)

    return log_prob


def torchrl_masked_entropy() -> Any:
    from torchrl.modules import MaskedCategorical

    def entropy(logits, mask):
        return MaskedCategorical(logits=logits, mask=mask.bool()).entropy()

    return entropy


def torchrl_value_loss() -> Any:
    from torchrl.objectives.utils import _clip_value_loss

    def value_loss(values, old_values, returns, clip_range):
        plain = (values - returns) ** 2
        return _clip_value_loss(old_values, values, clip_range, returns, plain, "l2")[0].mean()

    return value_loss


_FUNCTIONAL = "torchrl.objectives.value.functional"
_SB3 = "stable_baselines3.common"
PEERS = (
    Peer("gae", "SB3", f"{_SB3}.buffers:RolloutBuffer.compute_returns_and_advantage"),
    Peer("gae", "TorchRL", f"{_FUNCTIONAL}:generalized_advantage_estimate"),
    Peer("gae", "TorchRL", f"{_FUNCTIONAL}:vec_generalized_advantage_estimate"),
    Peer("gae", "Tianshou", "tianshou.algorithm.algorithm_base:_gae"),
    Peer("discounted-return", "TorchRL", f"{_FUNCTIONAL}:reward2go"),
    Peer("discounted-return", "TorchRL", f"{_FUNCTIONAL}:td1_return_estimate"),
    Peer("discounted-return", "Tianshou", "tianshou.algorithm.algorithm_base:episode_mc_return_to_go"),
    Peer("td", "TorchRL", f"{_FUNCTIONAL}:td0_return_estimate"),
    Peer("td", "TorchRL", f"{_FUNCTIONAL}:td0_advantage_estimate"),
    Peer("td-lambda", "TorchRL", f"{_FUNCTIONAL}:td_lambda_return_estimate"),
    Peer("td-lambda", "TorchRL", f"{_FUNCTIONAL}:vec_td_lambda_return_estimate"),
    Peer("vtrace", "TorchRL", f"{_FUNCTIONAL}:vtrace_advantage_estimate"),
    Peer("value-loss", "TorchRL", "_clip_value_loss", torchrl_value_loss),
    Peer("quantile-loss", "SB3", "sb3_contrib.common.utils:quantile_huber_loss"),
    Peer("huber", "PyTorch", "torch.nn.functional:huber_loss"),
    Peer("huber", "PyTorch", "torch.nn.functional:smooth_l1_loss"),
    Peer("soft-update", "SB3", f"{_SB3}.utils:polyak_update"),
    Peer("soft-update", "Tianshou", "tianshou.utils.lagged_network:polyak_parameter_update"),
    Peer("epsilon-schedule", "SB3", f"{_SB3}.utils:get_linear_fn"),
    Peer("epsilon-schedule", "SB3", f"{_SB3}.utils:LinearSchedule"),
    Peer("running-normaliser", "SB3", f"{_SB3}.running_mean_std:RunningMeanStd"),
    Peer("running-normaliser", "Tianshou", "tianshou.utils.statistics:RunningMeanStd"),
    Peer("running-normaliser", "Gymnasium", "gymnasium.wrappers.utils:RunningMeanStd"),
    Peer("conjugate-gradient", "SB3", "sb3_contrib.common.utils:conjugate_gradient_solver"),
    Peer("gradient-clipping", "PyTorch", "torch.nn.utils:clip_grad_norm_"),
    Peer("flat-parameters", "PyTorch", "torch.nn.utils:parameters_to_vector"),
    Peer("replay-buffer", "SB3", f"{_SB3}.buffers:ReplayBuffer"),
    Peer("replay-buffer", "Tianshou", "tianshou.data:ReplayBuffer"),
    Peer("replay-buffer", "TorchRL", "torchrl.data:ReplayBuffer"),
    Peer("n-step-replay", "SB3", f"{_SB3}.buffers:NStepReplayBuffer"),
    Peer("prioritised-replay", "Tianshou", "tianshou.data:PrioritizedReplayBuffer"),
    Peer("rollout-buffer", "SB3", f"{_SB3}.buffers:RolloutBuffer"),
    Peer("frame-stack", "Gymnasium", "gymnasium.wrappers:FrameStackObservation"),
    Peer("log-prob", "SB3", "SquashedDiagGaussianDistribution", sb3_squashed),
    Peer("log-prob", "TorchRL", "TanhNormal", torchrl_tanh_normal),
    Peer("entropy", "SB3", "DiagGaussianDistribution", sb3_gaussian_entropy),
    Peer("entropy", "SB3", "CategoricalDistribution", sb3_categorical_entropy),
    Peer("entropy", "TorchRL", "MaskedCategorical", torchrl_masked_entropy),
)


def like_cleanrl() -> list[Peer]:
    """CleanRL has scripts, not functions: its lines as functions, in its own names, lie among the planted ones."""
    found = []
    for file in planted_functions.components():
        for each in planted_functions.planted(file):
            if not each.mistakes and "cleanrl" in each.function.__name__:
                made = None if not each.map else (lambda function=each.function: function)
                place = f"tests.planted_functions.{file}:{each.function.__qualname__}"
                found.append(Peer(each.component, "CleanRL-like", place, made))
    return found


def peers() -> bool:
    rows = [*PEERS, *like_cleanrl()]
    print(f"{'component':22} {'library':13} {'implementation':44} {'given':8} {'verdict':8} {'s':>5}")
    clean = direct = 0
    for peer in rows:
        began = time.perf_counter()
        thing = load(peer.target) if peer.adapter is None else peer.adapter()
        found = verification_of(thing, find(peer.component))
        spent = time.perf_counter() - began
        given = "nothing" if peer.adapter is None else "adapter"
        name = peer.target.rpartition(":")[2]
        said = found.outcome if found.outcome == "right" else f"{found.outcome} {found.matched or found.reason[:90]}"
        print(f"{peer.component:22} {peer.library:13} {name[:44]:44} {given:8} {said:8} {spent:5.1f}")
        clean += found.outcome == "right"
        direct += found.outcome == "right" and peer.adapter is None
    print(
        f"{clean} of {len(rows)} clean, {direct} of them ({direct / len(rows):.0%} of all) without mapping or adapter\n"
    )
    return clean == len(rows) and direct >= NO_MAPPING * len(rows)


def planted() -> bool:
    print(
        f"{'component':24} {'sound':>5} {'clean':>5}   {'wrong':>5} {'detected':>8} {'named':>5}  {'largest case':>12}"
    )
    total = [0] * 5
    longest = 0
    missed: list[str] = []
    for oracle in oracles():
        counts, largest = [0] * 5, 0
        for each in planted_functions.planted(oracle.name.replace("-", "_")):
            found = verification_of(each.function, oracle, each.map)
            if not each.mistakes:
                counts[0] += 1
                counts[1] += found.outcome == "right"
            else:
                named = set(found.matched) == {name for name in each.mistakes if not name.endswith("-mismatch")}
                counts[2] += 1
                counts[3] += found.outcome == "wrong"
                counts[4] += found.outcome == "wrong" and named
                largest = max(largest, 0 if found.table is None else len(found.table.rows))
            if (found.outcome == "right") != (not each.mistakes):
                missed.append(f"{each.id}: {found.outcome} {found.reason}")
        longest = max(longest, largest)
        total = [a + b for a, b in zip(total, counts, strict=True)]
        print(f"{oracle.name:24} {counts[0]:5} {counts[1]:5}   {counts[2]:5} {counts[3]:8} {counts[4]:5}  {largest:12}")
    sound, clean, wrong, detected, named = total
    print(f"{'all':24} {sound:5} {clean:5}   {wrong:5} {detected:8} {named:5}  {longest:12}")
    print(f"false alarms {sound - clean} of {sound}; of {wrong} wrong ones", end=" ")
    print(f"{detected / wrong:.1%} detected, {named / wrong:.1%} named")
    for line in missed:
        print(f"  {line}")
    print()
    return clean == sound and detected == wrong and named >= NAMED * wrong and wrong >= 120


def speed() -> bool:
    """`rldebug verify` as a user calls it, with the start of Python and torch in it."""
    seconds = []
    for component in ("gae", "dqn_target", "ppo_loss"):
        sound = next(each for each in planted_functions.planted(component) if not each.mistakes and not each.map)
        wrong = next(each for each in planted_functions.planted(component) if each.mistakes and not each.map)
        for each in (sound, wrong):
            target = f"tests.planted_functions.{component}:{each.function.__name__}"
            with tempfile.TemporaryDirectory() as folder:
                report = os.path.join(folder, "report.json")
                command = [sys.executable, "-m", "rldebug", "verify", each.component, target, "--json", report]
                began = time.perf_counter()
                subprocess.run(command, capture_output=True, cwd=Path(__file__).parent.parent, check=False)
                seconds.append(time.perf_counter() - began)
            print(f"rldebug verify {each.component} …:{each.function.__name__:30} {seconds[-1]:5.1f} s")
    print(f"median {statistics.median(seconds):.1f} s\n")
    return statistics.median(seconds) <= SECONDS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", action="store_true", help="only the libraries' own implementations")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    met = [peers()] if given.peers else [peers(), planted(), speed()]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
