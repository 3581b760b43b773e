"""Tianshou and TorchRL for `throughput.py`: whole training loops on CartPole, put together as their users do.

The networks, optimisers and settings are those of the other contenders; what each library does by itself (statistics,
nested batches, specs) is left as it comes, but for progress bars. Each function builds everything once and returns what
trains for a number of environment steps.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from itertools import islice
from typing import Any

import torch
from torch import nn

Contender = Callable[[int], None]
ENV = "CartPole-v1"
HIDDEN = (64, 64)


# ── Tianshou ──


def _tianshou_actor_critic(n: int) -> tuple[Any, Any, Any]:
    """Environments, policy and critic."""
    import gymnasium as gym
    from tianshou.algorithm.modelfree.reinforce import DiscreteActorPolicy
    from tianshou.env import DummyVectorEnv
    from tianshou.utils.net.common import Net
    from tianshou.utils.net.discrete import DiscreteActor, DiscreteCritic

    envs = DummyVectorEnv([lambda: gym.make(ENV) for _ in range(n)])
    space, actions = envs.observation_space[0], envs.action_space[0]

    def net() -> Any:
        return Net(state_shape=space.shape, hidden_sizes=HIDDEN, activation=nn.Tanh)

    actor = DiscreteActor(preprocess_net=net(), action_shape=actions.n, softmax_output=False)
    return envs, DiscreteActorPolicy(actor=actor, action_space=actions), DiscreteCritic(preprocess_net=net())


def _tianshou_on_policy(algorithm: Any, envs: Any, n: int, steps: int, epochs: int, minibatch: int) -> Contender:
    from tianshou.data import Collector, VectorReplayBuffer
    from tianshou.trainer import OnPolicyTrainerParams

    collector = Collector(algorithm, envs, VectorReplayBuffer(n * steps, n))

    def run(total: int) -> None:
        algorithm.run_training(
            OnPolicyTrainerParams(
                training_collector=collector,
                max_epochs=1,
                epoch_num_steps=total,
                collection_step_num_env_steps=n * steps,
                update_step_num_repetitions=epochs,
                batch_size=minibatch,
                verbose=False,
                show_progress=False,
            )
        )

    return run


def tianshou_ppo(n: int, steps: int, epochs: int, minibatch: int) -> Contender:
    from tianshou.algorithm import PPO
    from tianshou.algorithm.optim import AdamOptimizerFactory

    envs, policy, critic = _tianshou_actor_critic(n)
    algorithm = PPO(
        policy=policy,
        critic=critic,
        optim=AdamOptimizerFactory(lr=2.5e-4, eps=1e-5),
        max_grad_norm=0.5,
        max_batchsize=n * steps,
    )
    return _tianshou_on_policy(algorithm, envs, n, steps, epochs, minibatch)


def tianshou_a2c() -> Contender:
    from tianshou.algorithm import A2C
    from tianshou.algorithm.optim import RMSpropOptimizerFactory

    envs, policy, critic = _tianshou_actor_critic(1)
    algorithm = A2C(
        policy=policy,
        critic=critic,
        optim=RMSpropOptimizerFactory(lr=7e-4, eps=1e-5),
        ent_coef=0.0,
        max_grad_norm=0.5,
        gae_lambda=1.0,
    )
    return _tianshou_on_policy(algorithm, envs, 1, 5, 1, 5)


def tianshou_dqn() -> Contender:
    import gymnasium as gym
    from tianshou.algorithm import DQN
    from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
    from tianshou.algorithm.optim import AdamOptimizerFactory
    from tianshou.data import Collector, VectorReplayBuffer
    from tianshou.env import DummyVectorEnv
    from tianshou.trainer import OffPolicyTrainerParams
    from tianshou.utils.net.common import Net

    envs = DummyVectorEnv([lambda: gym.make(ENV)])
    space, actions = envs.observation_space[0], envs.action_space[0]
    net = Net(state_shape=space.shape, action_shape=actions.n, hidden_sizes=HIDDEN)
    policy: Any = DiscreteQLearningPolicy(model=net, action_space=actions, eps_training=1.0)
    algorithm: Any = DQN(
        policy=policy,
        optim=AdamOptimizerFactory(lr=1e-4),
        target_update_freq=2_500,
        is_double=False,
    )
    collector: Any = Collector(algorithm, envs, VectorReplayBuffer(50_000, 1), exploration_noise=True)
    first = 100

    def run(total: int) -> None:
        collector.reset()
        collector.collect(n_step=first, random=True)
        algorithm.run_training(
            OffPolicyTrainerParams(
                training_collector=collector,
                max_epochs=1,
                epoch_num_steps=total - first,
                collection_step_num_env_steps=4,
                update_step_num_gradient_steps_per_sample=0.25,
                batch_size=32,
                training_fn=lambda _, step: policy.set_eps_training(max(0.05, 1 - 0.95 * step / (0.1 * total))),
                verbose=False,
                show_progress=False,
            )
        )

    return run


# ── TorchRL ──


def _quiet() -> None:
    """It warns of deprecations of its own when imported, and says when a buffer is first written to."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import torchrl.collectors  # noqa: F401
    logging.getLogger("torchrl").setLevel(logging.WARNING)


def _mlp(inputs: int, outputs: int, activation: Any) -> Any:
    from torchrl.modules import MLP

    return MLP(in_features=inputs, out_features=outputs, num_cells=list(HIDDEN), activation_class=activation)


def torchrl_ppo(n: int, steps: int, epochs: int, minibatch: int) -> Contender:
    _quiet()
    from tensordict.nn import TensorDictModule
    from torchrl.collectors import Collector
    from torchrl.data import LazyTensorStorage, TensorDictReplayBuffer
    from torchrl.data.replay_buffers.samplers import SamplerWithoutReplacement
    from torchrl.envs import GymEnv, SerialEnv
    from torchrl.modules import OneHotCategorical, ProbabilisticActor, ValueOperator
    from torchrl.objectives import ClipPPOLoss
    from torchrl.objectives.value import GAE

    envs = SerialEnv(n, lambda: GymEnv(ENV))
    inputs, outputs = envs.observation_spec["observation"].shape[-1], envs.action_spec.shape[-1]
    actor = ProbabilisticActor(
        TensorDictModule(_mlp(inputs, outputs, nn.Tanh), in_keys=["observation"], out_keys=["logits"]),
        in_keys=["logits"],
        spec=envs.action_spec,
        distribution_class=OneHotCategorical,
        return_log_prob=True,
    )
    critic = ValueOperator(_mlp(inputs, 1, nn.Tanh), in_keys=["observation"])
    advantage = GAE(gamma=0.99, lmbda=0.95, value_network=critic)
    objective = ClipPPOLoss(
        actor,
        critic,
        clip_epsilon=0.2,
        entropy_coeff=0.01,
        critic_coeff=0.5,
        loss_critic_type="l2",
        normalize_advantage=True,
    )
    rows = n * steps
    buffer = TensorDictReplayBuffer(
        storage=LazyTensorStorage(rows), sampler=SamplerWithoutReplacement(), batch_size=minibatch
    )
    optimizer = torch.optim.Adam(objective.parameters(), lr=2.5e-4, eps=1e-5)

    # Without an end, since at its end a collector closes the environments, which take long to start again. Transforms
    # as they come (none); not to say so is warned of.
    batches = iter(
        Collector(envs, actor, frames_per_batch=rows, total_frames=-1, auto_register_policy_transforms=False)
    )

    def run(total: int) -> None:
        for data in islice(batches, total // rows):
            with torch.no_grad():
                data = advantage(data)
            buffer.empty()
            buffer.extend(data.reshape(-1))
            for _ in range(epochs):
                for batch in buffer:
                    losses = objective(batch)
                    loss = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
                    optimizer.zero_grad()
                    loss.backward()
                    nn.utils.clip_grad_norm_(objective.parameters(), 0.5)
                    optimizer.step()

    return run


def torchrl_dqn() -> Contender:
    _quiet()
    from tensordict.nn import TensorDictSequential
    from torchrl.collectors import Collector
    from torchrl.data import LazyTensorStorage, TensorDictReplayBuffer
    from torchrl.envs import GymEnv
    from torchrl.modules import EGreedyModule, QValueActor
    from torchrl.objectives import DQNLoss, HardUpdate

    env = GymEnv(ENV)
    inputs, outputs = env.observation_spec["observation"].shape[-1], env.action_spec.shape[-1]
    actor = QValueActor(_mlp(inputs, outputs, nn.ReLU), in_keys=["observation"], spec=env.action_spec)
    objective = DQNLoss(actor, loss_function="l2", delay_value=True)
    objective.make_value_estimator(gamma=0.99)
    updater = HardUpdate(objective, value_network_update_interval=2_500)
    optimizer = torch.optim.Adam(objective.parameters(), lr=1e-4)
    buffer = TensorDictReplayBuffer(storage=LazyTensorStorage(50_000), batch_size=32)

    explore = EGreedyModule(env.action_spec, eps_init=1.0, eps_end=0.05, annealing_num_steps=600)
    policy = TensorDictSequential(actor, explore)
    collector = Collector(
        env,
        policy,
        frames_per_batch=4,
        total_frames=-1,
        init_random_frames=100,
        auto_register_policy_transforms=False,
    )
    batches = iter(collector)

    def run(total: int) -> None:
        for data in islice(batches, total // 4):
            buffer.extend(data)
            explore.step(4)
            if len(buffer) <= 100:
                continue
            loss = objective(buffer.sample())["loss"]
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            updater.step()

    return run
