import copy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class ReplayBuffer:
    def __init__(self, state_dim, action_dim, max_size=20000, seed=0):
        self.max_size = max_size
        self.ptr = 0
        self.size = 0
        self.rng = np.random.default_rng(seed)

        self.state = np.zeros((max_size, state_dim), dtype=np.float32)
        self.action = np.zeros((max_size, action_dim), dtype=np.float32)
        self.next_state = np.zeros((max_size, state_dim), dtype=np.float32)
        self.reward = np.zeros((max_size, 1), dtype=np.float32)
        self.not_done = np.zeros((max_size, 1), dtype=np.float32)

    def add(self, state, action, next_state, reward, done):
        self.state[self.ptr] = state
        self.action[self.ptr] = action
        self.next_state[self.ptr] = next_state
        self.reward[self.ptr] = reward
        self.not_done[self.ptr] = 1.0 - done

        self.ptr = (self.ptr + 1) % self.max_size
        self.size = min(self.size + 1, self.max_size)

    def sample(self, batch_size):
        ind = self.rng.integers(0, self.size, size=batch_size)
        return (
            torch.from_numpy(self.state[ind]),
            torch.from_numpy(self.action[ind]),
            torch.from_numpy(self.next_state[ind]),
            torch.from_numpy(self.reward[ind]),
            torch.from_numpy(self.not_done[ind]),
        )


class Actor(nn.Module):
    def __init__(self, state_dim, action_dim, low, high, hidden=64):
        super().__init__()
        self.l1 = nn.Linear(state_dim, hidden)
        self.l2 = nn.Linear(hidden, hidden)
        self.l3 = nn.Linear(hidden, action_dim)
        self.register_buffer("scale", torch.as_tensor((high - low) / 2.0, dtype=torch.float32))
        self.register_buffer("bias", torch.as_tensor((high + low) / 2.0, dtype=torch.float32))

    def forward(self, state):
        a = F.relu(self.l1(state))
        a = F.relu(self.l2(a))
        return torch.tanh(self.l3(a)) * self.scale + self.bias


class Critic(nn.Module):
    """Two Q functions side by side."""

    def __init__(self, state_dim, action_dim, hidden=64):
        super().__init__()
        self.l1 = nn.Linear(state_dim + action_dim, hidden)
        self.l2 = nn.Linear(hidden, hidden)
        self.l3 = nn.Linear(hidden, 1)

        self.l4 = nn.Linear(state_dim + action_dim, hidden)
        self.l5 = nn.Linear(hidden, hidden)
        self.l6 = nn.Linear(hidden, 1)

    def q1(self, state, action):
        h = torch.cat([state, action], 1)
        return self.l3(F.relu(self.l2(F.relu(self.l1(h)))))

    def q2(self, state, action):
        h = torch.cat([state, action], 1)
        return self.l6(F.relu(self.l5(F.relu(self.l4(h)))))

    def forward(self, state, action):
        return self.q1(state, action), self.q2(state, action)


class TD3Agent:
    def __init__(
        self,
        state_dim,
        action_dim,
        low,
        high,
        gamma=0.97,
        tau=0.01,
        lr=1e-3,
        policy_noise=0.1,
        noise_clip=0.3,
        expl_noise=0.2,
        policy_freq=2,
        seed=0,
    ):
        self.low = torch.as_tensor(low, dtype=torch.float32)
        self.high = torch.as_tensor(high, dtype=torch.float32)

        self.actor = Actor(state_dim, action_dim, low, high)
        self.actor_target = copy.deepcopy(self.actor)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=lr)

        self.critic = Critic(state_dim, action_dim)
        self.critic_target = copy.deepcopy(self.critic)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=lr)

        self.gamma = gamma
        self.tau = tau
        self.policy_noise = policy_noise
        self.noise_clip = noise_clip
        self.expl_noise = expl_noise
        self.policy_freq = policy_freq
        self.rng = np.random.default_rng(seed)
        self.total_it = 0

    @torch.no_grad()
    def select_action(self, state):
        return self.actor(torch.as_tensor(state).unsqueeze(0)).squeeze(0).numpy()

    def explore(self, state):
        scale = self.actor.scale.numpy()
        noise = self.rng.normal(0.0, self.expl_noise, size=scale.shape) * scale
        action = self.select_action(state) + noise
        return np.clip(action, self.low.numpy(), self.high.numpy()).astype(np.float32)

    def target_action(self, action, next_state):
        noise = torch.randn_like(action) * self.policy_noise
        noise = noise.clamp(-self.noise_clip, self.noise_clip) * self.actor.scale
        next_action = self.actor_target(next_state) + noise
        return torch.max(torch.min(next_action, self.high), self.low)

    def train(self, replay_buffer, batch_size=64):
        self.total_it += 1
        state, action, next_state, reward, not_done = replay_buffer.sample(batch_size)

        with torch.no_grad():
            next_action = self.target_action(action, next_state)
            target_q1, target_q2 = self.critic_target(next_state, next_action)
            target_q = reward + not_done * self.gamma * torch.min(target_q1, target_q2)

        current_q1, current_q2 = self.critic(state, action)
        critic_loss = F.mse_loss(current_q1, target_q) + F.mse_loss(current_q2, target_q)

        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()

        if self.total_it % self.policy_freq == 0:
            actor_loss = -self.critic.q1(state, self.actor(state)).mean()

            self.actor_optimizer.zero_grad()
            actor_loss.backward()
            self.actor_optimizer.step()

            self.soft_update(self.critic, self.critic_target)
            self.soft_update(self.actor, self.actor_target)

        return critic_loss.item()

    @torch.no_grad()
    def soft_update(self, net, target_net):
        for p, tp in zip(net.parameters(), target_net.parameters()):
            tp.copy_(self.tau * p + (1.0 - self.tau) * tp)

    def save(self, filename):
        torch.save({"actor": self.actor.state_dict(), "critic": self.critic.state_dict()}, filename)
