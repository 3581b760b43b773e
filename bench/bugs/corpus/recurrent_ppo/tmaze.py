"""A corridor with a cue at its mouth and a junction at its end.

The cue is visible in the first observation only. At the junction the agent must turn to the side
the cue named, so it has to carry one bit along a corridor whose length changes between episodes.
"""
import gymnasium as gym
import numpy as np
from gymnasium import spaces

FORWARD, UP, DOWN = 0, 1, 2


class TMaze(gym.Env):
    metadata = {"render_modes": []}

    def __init__(self, shortest=2, longest=5, patience=25):
        self.shortest, self.longest, self.patience = shortest, longest, patience
        # [in corridor, at junction, cue up, cue down]
        self.observation_space = spaces.Box(0.0, 1.0, (4,), np.float32)
        self.action_space = spaces.Discrete(3)
        self.cue = None
        self.length = None
        self.cell = 0
        self.clock = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.cue = UP if self.np_random.random() < 0.5 else DOWN
        self.length = int(self.np_random.integers(self.shortest, self.longest + 1))
        self.cell = 0
        self.clock = 0
        return self._look(), {}

    def _look(self):
        view = np.zeros(4, dtype=np.float32)
        view[1 if self.cell == self.length else 0] = 1.0
        view[2 if self.cue == UP else 3] = 1.0
        if self.clock > 0:
            view[-2:] = 0.0
        return view

    def step(self, action):
        self.clock += 1
        reward, done = -0.02, False
        if self.cell < self.length:
            if action == FORWARD:
                self.cell += 1
            else:
                reward = -0.1
        elif action == FORWARD:
            reward = -0.1
        else:
            reward, done = (1.0 if action == self.cue else -1.0), True
        out_of_time = not done and self.clock >= self.patience
        return self._look(), reward, done, out_of_time, {}


class Pool:
    """Steps several mazes in turn. A maze that ends is reset at once; the observation it ended in is handed over too."""

    def __init__(self, make, size, seed):
        self.mazes = [make() for _ in range(size)]
        self.seed = seed
        self.running = np.zeros(size)

    def reset(self):
        return np.stack([m.reset(seed=self.seed + i)[0] for i, m in enumerate(self.mazes)])

    def step(self, actions):
        views, rewards, dones, cuts, last_views, finished = [], [], [], [], [], []
        for i, (maze, action) in enumerate(zip(self.mazes, actions)):
            view, reward, done, cut, _ = maze.step(int(action))
            self.running[i] += reward
            last_views.append(view)
            if done or cut:
                finished.append(self.running[i])
                self.running[i] = 0.0
                view, _ = maze.reset()
            views.append(view)
            rewards.append(reward)
            dones.append(done)
            cuts.append(cut)
        return (np.stack(views), np.array(rewards, np.float32), np.array(dones), np.array(cuts),
                np.stack(last_views), finished)
