"""Programs as users of TorchRL write them: sound, or with one mistake. Each gives the weights that it ends with."""

import torch
from tensordict import TensorDict
from tensordict.nn import InteractionType, TensorDictModule, TensorDictSequential
from tensordict.nn.distributions import NormalParamExtractor
from torch import nn
from torchrl.collectors import Collector
from torchrl.data import Categorical, Composite, LazyTensorStorage, ReplayBuffer, SamplerWithoutReplacement, Unbounded
from torchrl.envs import Compose, DoubleToFloat, EnvBase, GymEnv, StepCounter, TransformedEnv
from torchrl.envs.utils import ExplorationType
from torchrl.modules import MLP, EGreedyModule, ProbabilisticActor, QValueActor, TanhNormal, ValueOperator
from torchrl.objectives import ClipPPOLoss, DQNLoss, SACLoss, SoftUpdate
from torchrl.objectives.value import GAE


class Pushed(EnvBase):
    """A point is to be pushed to the middle, in 40 steps; it may fall off at either side. Several at once."""

    def __init__(self, lanes=0, bug=""):
        super().__init__(batch_size=[lanes] if lanes else [])
        self.bug, shape = bug, self.batch_size
        self.observation_spec = Composite(observation=Unbounded((*shape, 2)), shape=shape)
        self.action_spec = Categorical(3, shape=shape)
        self.reward_spec = Unbounded((*shape, 1))
        ends = {
            name: Categorical(2, shape=(*shape, 1), dtype=torch.bool) for name in ("done", "terminated", "truncated")
        }
        self.full_done_spec = Composite(**ends, shape=shape)
        self.at, self.steps = torch.zeros(*shape, 2), torch.zeros(*shape, 1)
        self.draw = torch.Generator().manual_seed(0)

    def _set_seed(self, seed):
        self.draw.manual_seed(seed or 0)

    def _reset(self, tensordict=None):
        anew = torch.ones(*self.batch_size, 1, dtype=torch.bool)
        if tensordict is not None and "_reset" in tensordict:
            anew = tensordict["_reset"]
        start = (torch.rand(*self.batch_size, 2, generator=self.draw) * 4 - 2) * torch.tensor([1.0, 0.1])
        self.at, self.steps = torch.where(anew, start, self.at), torch.where(anew, 0, self.steps)
        no = torch.zeros(*self.batch_size, 1, dtype=torch.bool)
        ends = {"done": no, "terminated": no.clone(), "truncated": no.clone()}
        return TensorDict({"observation": self.at.clone(), **ends}, batch_size=self.batch_size)

    def _step(self, tensordict):
        force = tensordict["action"].float().unsqueeze(-1) - 1
        speed = 0.8 * self.at[..., 1:] + 0.3 * force
        place = self.at[..., :1] + speed
        self.at, self.steps = torch.cat([place, speed], -1), self.steps + 1
        fell, late = place.abs() > 4, self.steps >= 40
        cut = late & ~fell
        if self.bug == "a time limit terminates":
            fell, cut = fell | late, torch.zeros_like(late)
        ends = {"done": fell | cut, "terminated": fell, "truncated": cut}
        seen = {"observation": self.at.clone(), "reward": 1 - place.abs()}
        return TensorDict({**seen, **ends}, batch_size=self.batch_size)


def cartpole(one_hot=False):
    return TransformedEnv(GymEnv("CartPole-v1", categorical_action_encoding=not one_hot), StepCounter())


def pendulum():
    return TransformedEnv(GymEnv("Pendulum-v1"), Compose(DoubleToFloat(), StepCounter()))


def mlp(given, out):
    return MLP(in_features=given, out_features=out, num_cells=[32, 32])


def networks(env, size):
    """A policy over choices, and a critic."""
    count = env.action_spec.space.n
    actor = ProbabilisticActor(
        TensorDictModule(mlp(size, count), ["observation"], ["logits"]),
        in_keys=["logits"],
        distribution_class=torch.distributions.Categorical,
        return_log_prob=True,
    )
    return actor, ValueOperator(mlp(size, 1), in_keys=["observation"])


def weights(module):
    return [each.detach().clone() for each in module.parameters()]


def ppo(env, bug="", frames=2048, each=256, seed=0, size=4, saw=lambda data, loss: None):
    torch.manual_seed(seed)
    env.set_seed(seed)
    actor, critic = networks(env, size)
    how = ExplorationType.DETERMINISTIC if bug == "collects deterministically" else ExplorationType.RANDOM
    collector = Collector(
        env,
        actor,
        frames_per_batch=each,
        total_frames=frames,
        exploration_type=how,
        auto_register_policy_transforms=False,
    )
    gae = GAE(gamma=0.99, lmbda=0.95, value_network=critic)
    loss_module = ClipPPOLoss(actor, critic, entropy_coeff=0.01, critic_coeff=0.5, normalize_advantage=True)
    learned = actor if bug == "the optimizer has the actor alone" else loss_module
    optim = torch.optim.Adam(learned.parameters(), lr=3e-4, eps=1e-5)
    buffer = ReplayBuffer(storage=LazyTensorStorage(each), sampler=SamplerWithoutReplacement(), batch_size=64)
    for data in collector:
        for _ in range(4):
            if bug != "advantages are left to the loss":
                with torch.no_grad():
                    gae(data)
            saw(data, loss_module)
            buffer.empty()
            buffer.extend(data.reshape(-1))
            for _ in range(each // 64):
                losses = loss_module(buffer.sample())
                sign = -1 if bug == "the entropy is subtracted" else 1
                loss = losses["loss_objective"] + sign * losses["loss_entropy"]
                if bug != "the loss of the critic is left out":
                    loss = loss + losses["loss_critic"]
                loss.backward()
                torch.nn.utils.clip_grad_norm_(loss_module.parameters(), 10.0)
                optim.step()
                optim.zero_grad()
    collector.shutdown()
    return weights(loss_module)


def dqn(env, bug="", frames=2016, updates=8, seed=0, saw=lambda data, loss: None):
    torch.manual_seed(seed)
    env.set_seed(seed)
    q = QValueActor(mlp(4, 2), spec=env.action_spec, in_keys=["observation"])
    greedy = EGreedyModule(env.action_spec, annealing_num_steps=frames // 2, eps_init=1.0, eps_end=0.05)
    policy = q if bug == "no exploration module" else TensorDictSequential(q, greedy)
    collector = Collector(env, policy, frames_per_batch=32, total_frames=frames, auto_register_policy_transforms=False)
    replay = ReplayBuffer(storage=LazyTensorStorage(10_000), batch_size=64)
    loss_module = DQNLoss(q, loss_function="l2", delay_value=True, action_space=env.action_spec)
    loss_module.make_value_estimator(gamma=0.99)
    target = SoftUpdate(loss_module, eps=0.01 if bug == "eps and tau are mixed up" else 0.99)
    optim = torch.optim.Adam(loss_module.parameters(), 1e-3)
    for data in collector:
        rows = data.reshape(-1)
        if bug == "ends are lost on the way":
            for name in ("terminated", "done"):
                rows["next", name] = torch.zeros_like(rows["next", name])
        if bug == "next is the same observation":
            rows["next", "observation"] = rows["observation"]
        replay.extend(rows)
        saw(data, loss_module)
        if bug != "epsilon is never stepped":
            greedy.step(data.numel())
        for _ in range(updates):
            optim.zero_grad()
            loss_module(replay.sample())["loss"].backward()
            optim.step()
            if bug != "the target is never stepped":
                target.step()
    collector.shutdown()
    return weights(loss_module)


class Q(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.net = mlp(size, 1)

    def forward(self, obs, action):
        return self.net(torch.cat([obs, action], -1))


def sac(env, bug="", frames=1000, seed=0):
    torch.manual_seed(seed)
    env.set_seed(seed)
    space = env.action_spec.space
    actor = ProbabilisticActor(
        TensorDictModule(nn.Sequential(mlp(3, 2), NormalParamExtractor()), ["observation"], ["loc", "scale"]),
        in_keys=["loc", "scale"],
        spec=env.action_spec,
        distribution_class=TanhNormal,
        distribution_kwargs={"low": space.low, "high": space.high},
        default_interaction_type=InteractionType.RANDOM,
    )
    collector = Collector(
        env,
        actor,
        frames_per_batch=50,
        total_frames=frames,
        init_random_frames=200,
        auto_register_policy_transforms=False,
    )
    replay = ReplayBuffer(storage=LazyTensorStorage(10_000), batch_size=64)
    critics = ValueOperator(Q(4), in_keys=["observation", "action"])
    loss_module = SACLoss(actor, critics, num_qvalue_nets=2, delay_qvalue=True)
    loss_module.make_value_estimator(gamma=0.99)
    target = SoftUpdate(loss_module, eps=0.995)
    optims = {
        "loss_actor": torch.optim.Adam(loss_module.actor_network_params.flatten_keys().values(), 1e-3),
        "loss_qvalue": torch.optim.Adam(loss_module.qvalue_network_params.flatten_keys().values(), 1e-3),
        "loss_alpha": torch.optim.Adam([loss_module.log_alpha], 1e-3),
    }
    for data in collector:
        replay.extend(data.reshape(-1))
        if len(replay) < 200:
            continue
        for _ in range(25):
            losses = loss_module(replay.sample())
            for name, optim in optims.items():
                optim.zero_grad()
                losses[name].backward()
                optim.step()
            if bug != "the target is never stepped":
                target.step()
    collector.shutdown()
    return weights(loss_module)
