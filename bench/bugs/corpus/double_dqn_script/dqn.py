"""Double DQN, one file.

    python dqn.py --env-id Harbour-v0 --total-timesteps 10500 --seed 3
"""
import argparse
import copy

import gymnasium as gym
import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)


class HarbourEnv(gym.Env):
    """A boat on a line has to come to rest at the quay.

    Observation: [position in -1..1, speed, wind].  Actions: 0 astern, 1 idle, 2 ahead.
    Each step costs a little, more the further out the boat is.  Mooring (close and slow) pays 1,
    drifting out of the bay ends the trip with -1.
    """

    metadata = {"render_modes": []}

    def __init__(self, thrust: float = 0.03, friction: float = 0.96):
        self.thrust, self.friction = thrust, friction
        high = np.array([1.5, 1.0, 1.0], dtype=np.float32)
        self.observation_space = gym.spaces.Box(-high, high, dtype=np.float32)
        self.action_space = gym.spaces.Discrete(3)

    def _observe(self):
        return np.array([self.pos, self.speed, self.wind], dtype=np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        side = 1.0 if self.np_random.random() < 0.5 else -1.0
        self.pos = float(side * self.np_random.uniform(0.4, 0.9))
        self.speed = float(self.np_random.uniform(-0.03, 0.03))
        self.wind = float(self.np_random.uniform(-1.0, 1.0))
        return self._observe(), {}

    def step(self, action):
        force = self.thrust * (int(action) - 1) + 0.01 * self.wind
        self.speed = float(np.clip(self.friction * self.speed + force, -1.0, 1.0))
        self.pos += self.speed
        moored = abs(self.pos) < 0.12 and abs(self.speed) < 0.05
        lost = abs(self.pos) > 1.2
        reward = -0.02 - 0.03 * abs(self.pos)
        if moored:
            reward += 1.0
        elif lost:
            reward -= 1.0
        self.pos = float(np.clip(self.pos, -1.5, 1.5))
        return self._observe(), reward, moored or lost, False, {}


gym.register(id="Harbour-v0", entry_point=HarbourEnv, max_episode_steps=60)


class ReplayMemory:
    """Ring buffer in numpy arrays, filled by several environments at once."""

    def __init__(self, capacity: int, obs_shape: tuple, rng: np.random.Generator):
        self.obs = np.zeros((capacity, *obs_shape), dtype=np.float32)
        self.next_obs = np.zeros((capacity, *obs_shape), dtype=np.float32)
        self.actions = np.zeros(capacity, dtype=np.int64)
        self.rewards = np.zeros(capacity, dtype=np.float32)
        self.terminals = np.zeros(capacity, dtype=np.float32)
        self.capacity, self.rng = capacity, rng
        self.pos, self.full = 0, False

    def __len__(self):
        return self.capacity if self.full else self.pos

    def add(self, obs, next_obs, action, reward, terminal):
        self.obs[self.pos] = obs
        self.next_obs[self.pos] = next_obs
        self.actions[self.pos] = action
        self.rewards[self.pos] = reward
        self.terminals[self.pos] = terminal
        self.pos += 1
        if self.pos == self.capacity:
            self.pos, self.full = 0, True

    def sample(self, batch_size: int):
        idx = self.rng.integers(0, len(self), size=batch_size)
        arrays = (self.obs, self.actions, self.rewards, self.next_obs, self.terminals)
        return tuple(torch.from_numpy(arr[idx]) for arr in arrays)


def linear_schedule(start_e: float, end_e: float, duration: int, t: int) -> float:
    slope = (end_e - start_e) / duration
    return max(slope * t + start_e, end_e)


def make_qnet(n_in: int, n_out: int, width: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(n_in, width), nn.ReLU(), nn.Linear(width, n_out))


def double_dqn_target(online, target, rewards, next_obs, terminals, gamma):
    with torch.no_grad():
        greedy = online(next_obs).argmax(dim=1, keepdim=True)
        next_value = target(next_obs).gather(1, greedy).squeeze(1)
        return rewards + gamma * (1.0 - terminals) * next_value


def td_loss(online, obs, actions, targets):
    q = online(obs).gather(1, actions.unsqueeze(1)).squeeze(1)
    return (q - targets).pow(2).mean()


@torch.no_grad()
def evaluate(qnet, env_id: str, episodes: int, seed: int) -> float:
    env = gym.make(env_id)
    totals = []
    for ep in range(episodes):
        obs, _ = env.reset(seed=seed + ep)
        total, done = 0.0, False
        while not done:
            q = qnet(torch.as_tensor(obs, dtype=torch.float32).reshape(1, -1))
            obs, reward, terminated, truncated, _ = env.step(int(q.argmax(dim=1)))
            total += float(reward)
            done = terminated or truncated
        totals.append(total)
    env.close()
    return float(np.mean(totals))


def parse_args(argv=None):
    p = argparse.ArgumentParser()
    p.add_argument("--env-id", default="Harbour-v0")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--total-timesteps", type=int, default=10500)
    p.add_argument("--num-envs", type=int, default=3)
    p.add_argument("--learning-rate", type=float, default=2e-3)
    p.add_argument("--buffer-size", type=int, default=8000)
    p.add_argument("--reward-scale", type=float, default=2.0)
    p.add_argument("--gamma", type=float, default=0.97)
    p.add_argument("--target-network-frequency", type=int, default=100, help="in vector steps")
    p.add_argument("--batch-size", type=int, default=64)
    p.add_argument("--start-e", type=float, default=1.0)
    p.add_argument("--end-e", type=float, default=0.05)
    p.add_argument("--exploration-fraction", type=float, default=0.5)
    p.add_argument("--learning-starts", type=int, default=800)
    p.add_argument("--train-frequency", type=int, default=3, help="in vector steps")
    p.add_argument("--width", type=int, default=64)
    p.add_argument("--max-grad-norm", type=float, default=10.0)
    p.add_argument("--checkpoint", default="dqn.pt")
    return p.parse_args(argv)


def main():
    args = parse_args()
    np_rng = np.random.default_rng(args.seed)
    torch.manual_seed(args.seed)

    envs = gym.vector.SyncVectorEnv(
        [lambda: gym.make(args.env_id) for _ in range(args.num_envs)],
        autoreset_mode=gym.vector.AutoresetMode.SAME_STEP,
    )
    obs_shape = envs.single_observation_space.shape
    n_actions = int(envs.single_action_space.n)
    n_in = int(np.prod(obs_shape))

    online = nn.Sequential(nn.Flatten(), *make_qnet(n_in, n_actions, args.width))
    target = copy.deepcopy(online)
    optimizer = torch.optim.Adam(online.parameters(), lr=args.learning_rate)
    memory = ReplayMemory(args.buffer_size, obs_shape, np_rng)

    episode_returns, losses = [], []
    running = np.zeros(args.num_envs)
    obs, _ = envs.reset(seed=args.seed)
    for iteration in range(1, args.total_timesteps // args.num_envs + 1):
        global_step = (iteration - 1) * args.num_envs
        epsilon = linear_schedule(args.start_e, args.end_e, args.exploration_fraction * args.total_timesteps, global_step)
        with torch.no_grad():
            actions = online(torch.as_tensor(obs, dtype=torch.float32)).argmax(dim=1).numpy()
        explore = np_rng.random(args.num_envs) < epsilon
        actions = np.where(explore, np_rng.integers(0, n_actions, size=args.num_envs), actions)

        next_obs, rewards, terminations, truncations, infos = envs.step(actions)
        dones = np.logical_or(terminations, truncations)
        running += rewards
        real_next_obs = next_obs.copy()
        for i in np.flatnonzero(dones):
            real_next_obs[i] = infos["final_obs"][i]
            episode_returns.append(running[i])
            running[i] = 0.0
        for i in range(args.num_envs):
            memory.add(obs[i], real_next_obs[i], actions[i], rewards[i], terminations[i])
        obs = next_obs

        if global_step >= args.learning_starts and iteration % args.train_frequency == 0:
            batch = list(memory.sample(args.batch_size))
            batch[2] = batch[2] * args.reward_scale
            b_obs, b_actions, b_rewards, b_next_obs, b_terminals = batch
            y = double_dqn_target(online, target, b_rewards, b_next_obs, b_terminals, args.gamma)
            loss = td_loss(online, b_obs, b_actions, y)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(online.parameters(), args.max_grad_norm)
            optimizer.step()
            losses.append(loss.item())
        if iteration % args.target_network_frequency == 0:
            target.load_state_dict(online.state_dict())
        if iteration % 500 == 0:
            recent = np.mean(episode_returns[-40:]) if episode_returns else float("nan")
            print(f"step={global_step} epsilon={epsilon:.3f} td_loss={np.mean(losses[-100:]) if losses else 0:.4f} return={recent:.3f}")
    envs.close()

    torch.save({"model": online.state_dict(), "args": vars(args)}, args.checkpoint)
    fresh = nn.Sequential(nn.Flatten(), *make_qnet(n_in, n_actions, args.width))
    fresh.load_state_dict(torch.load(args.checkpoint)["model"])
    fresh.eval()
    print(f"train_return={np.mean(episode_returns[-40:]) if episode_returns else float('nan'):.3f}")
    print(f"eval_return={evaluate(fresh, args.env_id, 40, 10_000):.3f}")


if __name__ == "__main__":
    main()
