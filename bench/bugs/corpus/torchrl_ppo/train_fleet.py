from __future__ import annotations

from dataclasses import dataclass

import torch
from tensordict.nn import TensorDictModule
from tensordict.nn.distributions import NormalParamExtractor
from torch import nn
from torchrl.collectors import Collector
from torchrl.data import LazyTensorStorage, ReplayBuffer
from torchrl.data.replay_buffers.samplers import SamplerWithoutReplacement
from torchrl.envs.utils import ExplorationType, set_exploration_type
from torchrl.modules import ProbabilisticActor, TanhNormal, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from regatta import LIMIT, make_regatta

seed = 3


@dataclass
class Cfg:
    boats: int = 48
    steps_per_batch: int = 16
    batches: int = 21
    epochs: int = 4
    minibatch: int = 192
    lr: float = 3e-3
    gamma: float = 0.97
    lmbda: float = 0.9
    clip: float = 0.2
    entropy: float = 1e-3
    max_norm: float = 1.0


def make_actor(env) -> ProbabilisticActor:
    net = nn.Sequential(
        nn.Linear(6, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 4), NormalParamExtractor()
    )
    return ProbabilisticActor(
        module=TensorDictModule(net, in_keys=["observation"], out_keys=["loc", "scale"]),
        spec=env.action_spec,
        in_keys=["loc", "scale"],
        distribution_class=TanhNormal,
        distribution_kwargs={"low": -1.0, "high": 1.0},
        return_log_prob=True,
    )


def make_critic() -> ValueOperator:
    net = nn.Sequential(nn.Linear(6, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 1))
    return ValueOperator(net, in_keys=["observation"])


@torch.no_grad()
def regatta_day(actor, boats: int, seed: int) -> float:
    """Mean return of one race per boat, without exploration."""
    env = make_regatta(boats, seed)
    with set_exploration_type(ExplorationType.DETERMINISTIC):
        log = env.rollout(LIMIT, policy=actor, break_when_any_done=False)
    over = log["next", "done"].squeeze(-1)
    first = over.int().argmax(dim=1, keepdim=True)
    returns = log["next", "episode_reward"].squeeze(-1).gather(1, first)
    env.close()
    return returns.mean().item()


def main(cfg: Cfg) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    env = make_regatta(cfg.boats, seed)
    actor, critic = make_actor(env), make_critic()

    frames = cfg.boats * cfg.steps_per_batch
    collector = Collector(
        env,
        actor,
        frames_per_batch=frames,
        total_frames=frames * cfg.batches,
        auto_register_policy_transforms=False,
    )
    advantage = GAE(gamma=cfg.gamma, lmbda=cfg.lmbda, value_network=critic, average_gae=True, vectorized=True)
    loss_module = ClipPPOLoss(
        actor,
        critic,
        clip_epsilon=cfg.clip,
        entropy_coeff=cfg.entropy,
        critic_coeff=0.5,
        loss_critic_type="smooth_l1",
    )
    optim = torch.optim.Adam(loss_module.parameters(), lr=cfg.lr)
    sched = torch.optim.lr_scheduler.LinearLR(optim, 1.0, 0.1, total_iters=cfg.batches)
    memory = ReplayBuffer(
        storage=LazyTensorStorage(frames), sampler=SamplerWithoutReplacement(), batch_size=cfg.minibatch
    )

    finished: list[float] = []
    for i, data in enumerate(collector):
        with torch.no_grad():
            advantage(data)
        memory.empty()
        memory.extend(data.reshape(-1))
        for _ in range(cfg.epochs):
            for part in memory:
                losses = loss_module(part)
                total = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
                optim.zero_grad()
                total.backward()
                nn.utils.clip_grad_norm_(loss_module.parameters(), cfg.max_norm)
                optim.step()
        sched.step()
        collector.update_policy_weights_()

        done = data["next", "done"]
        finished += data["next", "episode_reward"][done].tolist()
        if i % 7 == 6:
            recent = finished[-200:]
            print(
                f"batch {i + 1:3d}: races {len(finished):5d}, return {sum(recent) / max(len(recent), 1):7.3f}, "
                f"critic {losses['loss_critic'].item():.4f}, lr {sched.get_last_lr()[0]:.5f}"
            )
    collector.shutdown()
    print(f"race day: {regatta_day(actor, 64, seed + 1000):.4f}")


if __name__ == "__main__":
    main(Cfg())
