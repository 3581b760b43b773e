"""Programs as users of Tianshou write them: sound, or with one mistake. Each gives the weights that it ends with."""

import gymnasium as gym
import numpy as np
import torch
from gymnasium import spaces
from tianshou.algorithm import DQN, PPO, SAC
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.modelfree.reinforce import DiscreteActorPolicy
from tianshou.algorithm.modelfree.sac import AutoAlpha, SACPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OffPolicyTrainerParams, OnPolicyTrainerParams
from tianshou.utils.net.common import Net
from tianshou.utils.net.continuous import ContinuousActorProbabilistic, ContinuousCritic
from tianshou.utils.net.discrete import DiscreteActor, DiscreteCritic
from torch.distributions import Categorical

QUIETLY = {"test_in_training": False, "show_progress": False, "verbose": False, "test_step_num_episodes": 2}


class Pushed(gym.Env):
    """A point is to be pushed to the middle, in 40 steps; it may fall off at either side."""

    def __init__(self, bug=""):
        self.bug = bug
        self.observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float32)
        self.action_space = spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps, self.at = 0, self.np_random.uniform(-2, 2, 2) * [1.0, 0.1]
        return self.at.astype(np.float32), {}

    def step(self, action):
        speed = 0.8 * self.at[1] + 0.3 * (float(action) - 1.0)
        self.at = np.array([self.at[0] + speed, speed])
        self.steps += 1
        fell, late = bool(abs(self.at[0]) > 4), self.steps >= 40
        ends = (fell or late, False) if self.bug == "a time limit terminates" else (fell, late and not fell)
        return self.at.astype(np.float32), 1.0 - abs(float(self.at[0])), *ends, {}


class WithoutGradients(Net):
    def forward(self, obs, state=None, info=None):
        with torch.no_grad():
            return super().forward(obs, state, info)


def cartpole():
    return gym.make("CartPole-v1")


def pendulum():
    return gym.make("Pendulum-v1")


def begin(make, seed, kind):
    np.random.seed(seed)
    torch.manual_seed(seed)
    envs, tests = kind([make] * 4), DummyVectorEnv([make] * 2)
    envs.seed(seed)
    tests.seed(seed + 100)
    return make(), envs, tests


def end(algorithm, envs, tests):
    envs.close()
    tests.close()
    return [each.detach().clone() for each in algorithm.parameters()]


def ppo(make, bug="", seed=0, kind=DummyVectorEnv, steps=2400):
    env, envs, tests = begin(make, seed, kind)
    shape = env.observation_space.shape
    actor = DiscreteActor(
        preprocess_net=Net(state_shape=shape, hidden_sizes=[32, 32]),
        action_shape=env.action_space.n,
        softmax_output=bug == "probabilities as logits",
    )
    critic = DiscreteCritic(preprocess_net=Net(state_shape=shape, hidden_sizes=[32, 32]))
    policy = DiscreteActorPolicy(
        actor=actor, dist_fn=lambda out: Categorical(logits=out), action_space=env.action_space
    )
    algorithm = PPO(
        policy=policy,
        critic=critic,
        optim=AdamOptimizerFactory(lr=3e-4),
        gamma=0.99,
        gae_lambda=0.95,
        vf_coef=0.0 if bug == "the loss of the critic counts nothing" else 0.5,
        ent_coef=-0.01 if bug == "the entropy coefficient is negative" else 0.01,
        max_grad_norm=10.0,
        advantage_normalization=True,
    )
    algorithm.run_training(
        OnPolicyTrainerParams(
            training_collector=Collector(algorithm, envs, VectorReplayBuffer(2000, 4)),
            test_collector=Collector(algorithm, tests),
            max_epochs=1,
            epoch_num_steps=steps,
            update_step_num_repetitions=4,
            batch_size=64,
            collection_step_num_env_steps=400,
            **QUIETLY,
        )
    )
    return end(algorithm, envs, tests)


def dqn(make, bug="", seed=0, kind=DummyVectorEnv, steps=800):
    env, envs, tests = begin(make, seed, kind)
    net = WithoutGradients if bug == "a network without gradients" else Net
    model = net(state_shape=env.observation_space.shape, action_shape=env.action_space.n, hidden_sizes=[32, 32])
    policy = DiscreteQLearningPolicy(model=model, action_space=env.action_space, eps_training=0.1)
    algorithm = DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), gamma=0.99, target_update_freq=50)
    explores = bug != "the collector adds no noise"
    collector = Collector(algorithm, envs, VectorReplayBuffer(10_000, 4), exploration_noise=explores)
    collector.reset()
    collector.collect(n_step=200, random=explores)
    algorithm.run_training(
        OffPolicyTrainerParams(
            training_collector=collector,
            test_collector=Collector(algorithm, tests),
            max_epochs=1,
            epoch_num_steps=steps,
            collection_step_num_env_steps=8,
            update_step_num_gradient_steps_per_sample=1.0,
            batch_size=64,
            **QUIETLY,
        )
    )
    return end(algorithm, envs, tests)


def sac(make, bug="", seed=0, kind=DummyVectorEnv, steps=400):
    env, envs, tests = begin(make, seed, kind)
    shape, width = env.observation_space.shape, env.action_space.shape

    def critic():
        net = Net(state_shape=shape, action_shape=width, hidden_sizes=[32, 32], concat=True)
        return ContinuousCritic(preprocess_net=net)

    actor = ContinuousActorProbabilistic(
        preprocess_net=Net(state_shape=shape, hidden_sizes=[32, 32]),
        action_shape=width,
        unbounded=True,
        conditioned_sigma=True,
    )
    adam, first = AdamOptimizerFactory(lr=1e-3), critic()
    algorithm = SAC(
        policy=SACPolicy(actor=actor, action_space=env.action_space),
        policy_optim=adam,
        critic=first,
        critic_optim=adam,
        critic2=first if bug == "both critics are one" else critic(),
        critic2_optim=adam,
        gamma=0.99,
        alpha=AutoAlpha(-1.0, 0.0, AdamOptimizerFactory(lr=1e-3)),
    )
    collector = Collector(algorithm, envs, VectorReplayBuffer(10_000, 4), exploration_noise=True)
    collector.reset()
    collector.collect(n_step=200, random=True)
    algorithm.run_training(
        OffPolicyTrainerParams(
            training_collector=collector,
            test_collector=Collector(algorithm, tests),
            max_epochs=1,
            epoch_num_steps=steps,
            collection_step_num_env_steps=8,
            update_step_num_gradient_steps_per_sample=1.0,
            batch_size=64,
            **QUIETLY,
        )
    )
    return end(algorithm, envs, tests)
