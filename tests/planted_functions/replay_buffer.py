"""Replay buffers as people write them."""

from __future__ import annotations

import random
from collections import deque, namedtuple

import numpy as np
import torch

from tests.planted_functions import right, wrong

Transition = namedtuple("Transition", ("state", "action", "next_state", "reward", "done"))


@right()
class SpinningUp:
    def __init__(self, obs_dim, act_dim, size):
        self.obs_buf = np.zeros((size, obs_dim), dtype=np.float32)
        self.obs2_buf = np.zeros((size, obs_dim), dtype=np.float32)
        self.act_buf = np.zeros((size, act_dim), dtype=np.float32)
        self.rew_buf = np.zeros(size, dtype=np.float32)
        self.done_buf = np.zeros(size, dtype=np.float32)
        self.ptr, self.size, self.max_size = 0, 0, size

    def store(self, obs, act, rew, next_obs, done):
        self.obs_buf[self.ptr] = obs
        self.obs2_buf[self.ptr] = next_obs
        self.act_buf[self.ptr] = act
        self.rew_buf[self.ptr] = rew
        self.done_buf[self.ptr] = done
        self.ptr = (self.ptr + 1) % self.max_size
        self.size = min(self.size + 1, self.max_size)

    def sample_batch(self, batch_size=32):
        idxs = np.random.randint(0, self.size, size=batch_size)
        batch = {
            "obs": self.obs_buf[idxs],
            "obs2": self.obs2_buf[idxs],
            "act": self.act_buf[idxs],
            "rew": self.rew_buf[idxs],
            "done": self.done_buf[idxs],
        }
        return {k: torch.as_tensor(v, dtype=torch.float32) for k, v in batch.items()}


@right()
class TutorialMemory:
    def __init__(self, capacity):
        self.memory = deque(maxlen=capacity)

    def push(self, *args):
        self.memory.append(Transition(*args))

    def sample(self, batch_size):
        return random.sample(self.memory, batch_size)

    def __len__(self):
        return len(self.memory)


@right()
class TD3Style:
    def __init__(self, state_dim, action_dim, max_size=int(1e6)):
        self.max_size = max_size
        self.ptr = 0
        self.size = 0
        self.state = np.zeros((max_size, state_dim))
        self.action = np.zeros((max_size, action_dim))
        self.next_state = np.zeros((max_size, state_dim))
        self.reward = np.zeros((max_size, 1))
        self.not_done = np.zeros((max_size, 1))
        self.device = torch.device("cpu")

    def add(self, state, action, next_state, reward, done):
        self.state[self.ptr] = state
        self.action[self.ptr] = action
        self.next_state[self.ptr] = next_state
        self.reward[self.ptr] = reward
        self.not_done[self.ptr] = 1.0 - done
        self.ptr = (self.ptr + 1) % self.max_size
        self.size = min(self.size + 1, self.max_size)

    def sample(self, batch_size):
        ind = np.random.randint(0, self.size, size=batch_size)
        return (
            torch.FloatTensor(self.state[ind]),
            torch.FloatTensor(self.action[ind]),
            torch.FloatTensor(self.next_state[ind]),
            torch.FloatTensor(self.reward[ind]),
            torch.FloatTensor(self.not_done[ind]),
        )


@right()
class TeachingStyle:
    def __init__(self, max_size, input_shape, n_actions):
        self.mem_size = max_size
        self.mem_cntr = 0
        self.state_memory = np.zeros((max_size, *input_shape), dtype=np.float32)
        self.new_state_memory = np.zeros((max_size, *input_shape), dtype=np.float32)
        self.action_memory = np.zeros(max_size, dtype=np.int64)
        self.reward_memory = np.zeros(max_size, dtype=np.float32)
        self.terminal_memory = np.zeros(max_size, dtype=bool)

    def store_transition(self, state, action, reward, state_, done):
        index = self.mem_cntr % self.mem_size
        self.state_memory[index] = state
        self.new_state_memory[index] = state_
        self.action_memory[index] = action
        self.reward_memory[index] = reward
        self.terminal_memory[index] = done
        self.mem_cntr += 1

    def sample_buffer(self, batch_size):
        max_mem = min(self.mem_cntr, self.mem_size)
        batch = np.random.choice(max_mem, batch_size, replace=False)
        states = self.state_memory[batch]
        states_ = self.new_state_memory[batch]
        return states, self.action_memory[batch], self.reward_memory[batch], states_, self.terminal_memory[batch]


@right()
class OldBaselines:
    def __init__(self, size):
        self._storage = []
        self._maxsize = size
        self._next_idx = 0

    def add(self, obs_t, action, reward, obs_tp1, done):
        data = (obs_t, action, reward, obs_tp1, done)
        if self._next_idx >= len(self._storage):
            self._storage.append(data)
        else:
            self._storage[self._next_idx] = data
        self._next_idx = (self._next_idx + 1) % self._maxsize

    def _encode_sample(self, idxes):
        obses_t, actions, rewards, obses_tp1, dones = [], [], [], [], []
        for i in idxes:
            obs_t, action, reward, obs_tp1, done = self._storage[i]
            obses_t.append(np.array(obs_t, copy=False))
            actions.append(np.array(action, copy=False))
            rewards.append(reward)
            obses_tp1.append(np.array(obs_tp1, copy=False))
            dones.append(done)
        return np.array(obses_t), np.array(actions), np.array(rewards), np.array(obses_tp1), np.array(dones)

    def sample(self, batch_size):
        return self._encode_sample([random.randint(0, len(self._storage) - 1) for _ in range(batch_size)])


@right()
class DictOfLists:
    def __init__(self, capacity, batch_size):
        self.capacity, self.batch_size = capacity, batch_size
        self.data = {"obs": [], "action": [], "reward": [], "next_obs": [], "terminated": []}

    def append(self, transition):
        for key in self.data:
            self.data[key].append(transition[key])
            if len(self.data[key]) > self.capacity:
                self.data[key].pop(0)

    def sample(self):
        picks = [random.randrange(len(self.data["obs"])) for _ in range(self.batch_size)]
        return {key: np.array([values[i] for i in picks]) for key, values in self.data.items()}


@right()
class VectorTorch:
    def __init__(self, buffer_size, obs_shape, action_dim, num_envs, device="cuda"):
        self.n = buffer_size // num_envs
        self.num_envs = num_envs
        self.obs = torch.zeros(self.n, num_envs, *obs_shape, device=device)
        self.next_obs = torch.zeros(self.n, num_envs, *obs_shape, device=device)
        self.actions = torch.zeros(self.n, num_envs, action_dim, device=device)
        self.rewards = torch.zeros(self.n, num_envs, device=device)
        self.terminations = torch.zeros(self.n, num_envs, device=device)
        self.pos, self.full = 0, False

    def add(self, obs, actions, rewards, next_obs, terminations):
        self.obs[self.pos] = torch.as_tensor(obs)
        self.next_obs[self.pos] = torch.as_tensor(next_obs)
        self.actions[self.pos] = torch.as_tensor(actions)
        self.rewards[self.pos] = torch.as_tensor(rewards)
        self.terminations[self.pos] = torch.as_tensor(terminations, dtype=torch.float32)
        self.pos += 1
        if self.pos == self.n:
            self.full, self.pos = True, 0

    def sample(self, batch_size):
        top = self.n if self.full else self.pos
        flat = torch.randint(0, top * self.num_envs, (batch_size,))
        pick = lambda x: x.flatten(0, 1)[flat]  # noqa: E731
        return pick(self.obs), pick(self.actions), pick(self.rewards), pick(self.next_obs), pick(self.terminations)


@right()
class WithoutNextObservations:
    """Frames once: the next observation is that of the next row; the newest row is left out."""

    def __init__(self, capacity, obs_dim):
        self.capacity = capacity
        self.obs = np.zeros((capacity, obs_dim), np.float32)
        self.action = np.zeros(capacity, np.int64)
        self.reward = np.zeros(capacity, np.float32)
        self.done = np.zeros(capacity, bool)
        self.count = 0

    def add(self, obs, action, reward, done):
        i = self.count % self.capacity
        self.obs[i], self.action[i], self.reward[i], self.done[i] = obs, action, reward, done
        self.count += 1

    def sample(self, batch_size):
        held = min(self.count, self.capacity)
        age = np.random.randint(1, held, batch_size)  # 0 is the newest
        idx = (self.count - 1 - age) % self.capacity
        return self.obs[idx], self.action[idx], self.reward[idx], self.obs[(idx + 1) % self.capacity], self.done[idx]


@right(map={"add": "note_down", "sample": "hand_out"})
class OddNames:
    def __init__(self, capacity):
        self.rows = deque(maxlen=capacity)

    def note_down(self, obs, action, reward, next_obs, done):
        self.rows.append((np.array(obs), action, reward, np.array(next_obs), done))

    def hand_out(self, count):
        return list(map(np.stack, zip(*random.choices(self.rows, k=count), strict=True)))


@right()
class AtariStyle:
    def __init__(self, capacity, obs_shape):
        self.obs = np.zeros((capacity, *obs_shape), np.uint8)
        self.next_obs = np.zeros((capacity, *obs_shape), np.uint8)
        self.actions = np.zeros(capacity, np.uint8)
        self.rewards = np.zeros(capacity, np.float32)
        self.terminals = np.zeros(capacity, np.uint8)
        self.capacity, self.n = capacity, 0

    def push(self, obs, action, reward, next_obs, terminal):
        at = self.n % self.capacity
        self.obs[at], self.next_obs[at] = obs, next_obs
        self.actions[at], self.rewards[at], self.terminals[at] = action, reward, terminal
        self.n += 1

    def sample(self, batch_size):
        i = np.random.randint(min(self.n, self.capacity), size=batch_size)
        return self.obs[i], self.actions[i], self.rewards[i], self.next_obs[i], self.terminals[i]


# Wrong ones.


@wrong("replay-buffer-reward-shifted")
class RewardLate:
    def __init__(self, capacity):
        self.mem = deque(maxlen=capacity)
        self.last_reward = 0.0

    def store(self, s, a, r, s2, d):
        self.mem.append((s, a, self.last_reward, s2, d))
        self.last_reward = r

    def sample(self, n):
        s, a, r, s2, d = zip(*random.sample(self.mem, n), strict=True)
        return np.stack(s), np.array(a), np.array(r), np.stack(s2), np.array(d)


@wrong("replay-buffer-action-shifted")
class ActionBefore:
    def __init__(self, obs_dim, act_dim, size):
        self.o, self.o2 = np.zeros((size, obs_dim)), np.zeros((size, obs_dim))
        self.a, self.r, self.d = np.zeros((size, act_dim)), np.zeros(size), np.zeros(size)
        self.count, self.max_size = 0, size

    def store(self, o, a, r, o2, d):
        i = self.count % self.max_size
        self.o[i], self.a[i], self.r[i], self.o2[i], self.d[i] = o, a, r, o2, d
        self.count += 1

    def sample(self, batch_size):
        top = min(self.count, self.max_size)
        i = np.random.randint(0, top, batch_size)
        return {"obs": self.o[i], "act": self.a[(i - 1) % top], "rew": self.r[i], "obs2": self.o2[i], "done": self.d[i]}


@wrong("replay-buffer-done-shifted")
class DoneAfter:
    def __init__(self, buffer_size, state_dim):
        self.states = np.zeros((buffer_size, state_dim))
        self.nexts = np.zeros((buffer_size, state_dim))
        self.rest = np.zeros((buffer_size, 3))
        self.k, self.cap = 0, buffer_size

    def add(self, state, action, reward, next_state, done):
        j = self.k % self.cap
        self.states[j], self.nexts[j], self.rest[j] = state, next_state, (action, reward, done)
        self.k += 1

    def sample(self, batch_size):
        top = min(self.k, self.cap)
        j = np.random.choice(top, batch_size)
        return self.states[j], self.rest[j, 0], self.rest[j, 1], self.nexts[j], self.rest[(j + 1) % top, 2]


@wrong("replay-buffer-obs-shifted")
class ObservationAfter:
    def __init__(self, capacity):
        self.capacity = capacity
        self.obs, self.act, self.rew, self.nxt, self.done = [], [], [], [], []

    def add(self, obs, action, reward, next_obs, done):
        for column, value in zip(
            (self.obs, self.act, self.rew, self.nxt, self.done), (obs, action, reward, next_obs, done), strict=True
        ):
            column.append(value)
            del column[: -self.capacity]

    def sample(self, batch_size):
        i = np.random.randint(0, len(self.obs), batch_size)
        take = lambda column, j: torch.as_tensor(np.array([column[k % len(column)] for k in j]))  # noqa: E731
        return take(self.obs, i - 1), take(self.act, i), take(self.rew, i), take(self.nxt, i), take(self.done, i)


@wrong("replay-buffer-next-obs-is-obs")
class NextIsSame:
    def __init__(self, capacity):
        self.buffer = deque(maxlen=capacity)

    def push(self, state, action, reward, next_state, done):
        state = np.expand_dims(state, 0)
        next_state = np.expand_dims(state, 0)
        self.buffer.append((state, action, reward, next_state, done))

    def sample(self, batch_size):
        state, action, reward, next_state, done = zip(*random.sample(self.buffer, batch_size), strict=True)
        return np.concatenate(state), action, reward, np.concatenate(next_state), done


@wrong("replay-buffer-next-obs-of-next-episode")
class OneArrayForBoth:
    def __init__(self, buffer_size, observation_space, action_space, n_envs=1):
        self.n = buffer_size // n_envs
        self.observations = np.zeros((self.n, n_envs, *observation_space.shape), observation_space.dtype)
        self.last = np.zeros((n_envs, *observation_space.shape), observation_space.dtype)
        self.actions = np.zeros((self.n, n_envs, *action_space.shape), action_space.dtype)
        self.rewards = np.zeros((self.n, n_envs), np.float32)
        self.dones = np.zeros((self.n, n_envs), np.float32)
        self.n_envs, self.pos, self.full = n_envs, 0, False

    def add(self, obs, next_obs, action, reward, done, infos):
        self.observations[self.pos], self.last = obs, next_obs.copy()
        self.actions[self.pos], self.rewards[self.pos], self.dones[self.pos] = action, reward, done
        self.pos = (self.pos + 1) % self.n
        self.full = self.full or self.pos == 0

    def sample(self, batch_size):
        top = self.n if self.full else self.pos
        i, e = np.random.randint(0, top, batch_size), np.random.randint(0, self.n_envs, batch_size)
        nxt = self.observations[(i + 1) % self.n, e]
        newest = i == (self.pos - 1) % self.n
        nxt[newest] = self.last[e[newest]]
        return self.observations[i, e], self.actions[i, e], nxt, self.dones[i, e], self.rewards[i, e]


@wrong("replay-buffer-next-obs-shifted")
class NextOfLater:
    def __init__(self, capacity, obs_dim):
        self.obs, self.nxt = torch.zeros(capacity, obs_dim), torch.zeros(capacity, obs_dim)
        self.ard = torch.zeros(capacity, 3)
        self.i, self.capacity = 0, capacity

    def put(self, obs, action, reward, next_obs, done):
        at = self.i % self.capacity
        self.obs[at], self.nxt[at] = torch.as_tensor(obs), torch.as_tensor(next_obs)
        self.ard[at] = torch.tensor([action, reward, float(done)])
        self.i += 1

    def sample(self, batch_size):
        top = min(self.i, self.capacity)
        at = torch.randint(top, (batch_size,))
        a, r, d = self.ard[at].unbind(1)
        return {"obs": self.obs[at], "action": a, "reward": r, "next_obs": self.nxt[(at + 1) % top], "done": d}


@wrong("replay-buffer-envs-mixed")
class EnvsReshaped:
    def __init__(self, capacity, obs_dim, act_dim, num_envs):
        steps = capacity // num_envs
        self.steps, self.num_envs, self.t = steps, num_envs, 0
        self.obs, self.nxt = np.zeros((steps, num_envs, obs_dim)), np.zeros((steps, num_envs, obs_dim))
        self.act, self.rew, self.done = (
            np.zeros((steps, num_envs, act_dim)),
            np.zeros((steps, num_envs)),
            np.zeros((steps, num_envs)),
        )

    def add(self, obs, act, rew, next_obs, done):
        i = self.t % self.steps
        self.obs[i], self.act[i], self.rew[i], self.nxt[i], self.done[i] = obs, act, rew, next_obs, done
        self.t += 1

    def sample(self, batch_size):
        n = min(self.t, self.steps)
        idx = np.random.randint(0, n * self.num_envs, batch_size)
        rew = self.rew[:n].T.reshape(-1)[idx]
        flat = lambda x: x[:n].reshape(n * self.num_envs, -1)[idx]  # noqa: E731
        return flat(self.obs), flat(self.act), rew, flat(self.nxt), flat(self.done)


@wrong("replay-buffer-fields-drawn-apart")
class EachFieldAlone:
    def __init__(self, maxlen):
        self.states = deque(maxlen=maxlen)
        self.actions = deque(maxlen=maxlen)
        self.rewards = deque(maxlen=maxlen)
        self.next_states = deque(maxlen=maxlen)
        self.dones = deque(maxlen=maxlen)

    def remember(self, state, action, reward, next_state, done):
        self.states.append(state)
        self.actions.append(action)
        self.rewards.append(reward)
        self.next_states.append(next_state)
        self.dones.append(done)

    def sample(self, batch_size):
        return (
            np.array(random.sample(self.states, batch_size)),
            np.array(random.sample(self.actions, batch_size)),
            np.array(random.sample(self.rewards, batch_size)),
            np.array(random.sample(self.next_states, batch_size)),
            np.array(random.sample(self.dones, batch_size)),
        )


@wrong("replay-buffer-last-row-never-sampled")
class LastLeftOut:
    def __init__(self, capacity):
        self.items, self.capacity = [], capacity

    def add(self, s, a, r, s_, d):
        self.items.append((s, a, r, s_, d))
        self.items = self.items[-self.capacity :]

    def sample(self, n):
        idx = np.random.randint(0, len(self.items) - 1, n)
        return [self.items[i] for i in idx]


@wrong("replay-buffer-mismatch")
class FirstLeftOut:
    def __init__(self, capacity):
        self.items, self.capacity, self.at = {}, capacity, 0

    def add(self, obs, action, reward, next_obs, done):
        self.at += 1
        self.items[(self.at - 1) % self.capacity] = Transition(obs, action, next_obs, reward, done)

    def sample(self, n):
        return [self.items[random.randint(1, len(self.items) - 1)] for _ in range(n)]


@wrong("replay-buffer-sampled-below-write-position")
class BelowThePointer:
    def __init__(self, capacity, obs_dim):
        self.o, self.o2 = torch.zeros(capacity, obs_dim), torch.zeros(capacity, obs_dim)
        self.a, self.r, self.d = torch.zeros(capacity), torch.zeros(capacity), torch.zeros(capacity)
        self.p, self.capacity = 0, capacity

    def save(self, state, action, reward, next_state, done):
        self.o[self.p], self.o2[self.p] = torch.as_tensor(state), torch.as_tensor(next_state)
        self.a[self.p], self.r[self.p], self.d[self.p] = float(action), float(reward), float(done)
        self.p = (self.p + 1) % self.capacity

    def sample(self, batch_size):
        i = torch.randint(0, max(self.p, 1), (batch_size,))
        return self.o[i], self.a[i], self.r[i], self.o2[i], self.d[i]


@wrong("replay-buffer-stops-when-full")
class NothingNew:
    def __init__(self, capacity):
        self.memory = []
        self.capacity = capacity

    def push(self, *args):
        if len(self.memory) < self.capacity:
            self.memory.append(Transition(*args))

    def sample(self, batch_size):
        return Transition(*zip(*random.sample(self.memory, batch_size), strict=True))


@wrong("replay-buffer-never-forgets")
class Hoarder:
    def __init__(self, buffer_size, batch_size):
        self.buffer_size, self.batch_size = buffer_size, batch_size
        self.buffer = []

    def add(self, state, action, reward, next_state, done):
        self.buffer.append({"s": state, "a": action, "r": reward, "s2": next_state, "d": done})

    def sample(self):
        return random.sample(self.buffer, self.batch_size)


@wrong("replay-buffer-overwrites-newest")
class StuckAtTheEnd:
    def __init__(self, obs_dim, size):
        self.x = np.zeros((size, 2 * obs_dim + 3))
        self.d, self.at, self.size = obs_dim, 0, 0

    def store(self, obs, act, rew, next_obs, done):
        self.x[self.at] = np.concatenate([obs, next_obs, [act, rew, done]])
        self.size = max(self.size, self.at + 1)
        self.at = min(self.at + 1, len(self.x) - 1)

    def sample(self, batch_size):
        rows = self.x[np.random.randint(0, self.size, batch_size)]
        d = self.d
        return rows[:, :d], rows[:, 2 * d], rows[:, 2 * d + 1], rows[:, d : 2 * d], rows[:, 2 * d + 2]


@wrong("replay-buffer-wraps-early")
class ShortRing:
    def __init__(self, max_size, state_dim, action_dim):
        self.s, self.s2 = np.zeros((max_size, state_dim)), np.zeros((max_size, state_dim))
        self.a, self.rd = np.zeros((max_size, action_dim)), np.zeros((max_size, 2))
        self.max_size, self.ptr, self.size = max_size, 0, 0

    def add(self, state, action, reward, next_state, done):
        self.s[self.ptr], self.a[self.ptr], self.s2[self.ptr] = state, action, next_state
        self.rd[self.ptr] = reward, done
        self.ptr = (self.ptr + 1) % (self.max_size - 1)
        self.size = min(self.size + 1, self.max_size)

    def sample(self, batch_size):
        i = np.random.randint(0, self.size, batch_size)
        return self.s[i], self.a[i], self.rd[i, 0], self.s2[i], self.rd[i, 1]


@wrong("replay-buffer-unfilled-rows")
class ZerosToo:
    def __init__(self, capacity, obs_shape, act_dim, device="cpu"):
        self.obs = torch.zeros((capacity, *obs_shape))
        self.next_obs = torch.zeros_like(self.obs)
        self.act = torch.zeros((capacity, act_dim))
        self.rew = torch.zeros(capacity)
        self.done = torch.zeros(capacity, dtype=torch.bool)
        self.capacity, self.ptr = capacity, 0

    def add(self, obs, act, rew, next_obs, done):
        self.obs[self.ptr] = torch.from_numpy(obs)
        self.next_obs[self.ptr] = torch.from_numpy(next_obs)
        self.act[self.ptr] = torch.from_numpy(act)
        self.rew[self.ptr], self.done[self.ptr] = float(rew), bool(done)
        self.ptr = (self.ptr + 1) % self.capacity

    def sample(self, batch_size):
        i = torch.randint(0, self.capacity, (batch_size,))
        return self.obs[i], self.act[i], self.rew[i], self.next_obs[i], self.done[i]


@wrong("replay-buffer-breaks-when-full")
class NoWrap:
    def __init__(self, capacity, obs_dim):
        self.data = np.zeros(
            capacity, dtype=[("o", "f4", obs_dim), ("a", "i8"), ("r", "f4"), ("o2", "f4", obs_dim), ("d", "?")]
        )
        self.pos = 0

    def add(self, o, a, r, o2, d):
        self.data[self.pos] = (o, a, r, o2, d)
        self.pos += 1

    def sample(self, batch_size):
        rows = self.data[np.random.randint(0, self.pos, batch_size)]
        return {name: rows[name] for name in rows.dtype.names}


@wrong("replay-buffer-one-row-for-the-batch")
class OneIndex:
    def __init__(self, capacity):
        self.rows = deque(maxlen=capacity)

    def add(self, obs, action, reward, next_obs, terminated, truncated):
        self.rows.append((obs, action, reward, next_obs, terminated, truncated))

    def sample(self, batch_size):
        i = np.random.randint(len(self.rows))
        return [np.array([self.rows[i][field]] * batch_size) for field in range(6)]


@wrong("replay-buffer-always-the-same-rows")
class NewGenerator:
    def __init__(self, capacity, seed=0):
        self.rows, self.capacity, self.seed = [], capacity, seed

    def add(self, obs, action, reward, next_obs, done):
        self.rows = [*self.rows, (obs, action, reward, next_obs, done)][-self.capacity :]

    def sample(self, batch_size):
        rng = np.random.default_rng(self.seed)
        picked = [self.rows[i] for i in rng.integers(0, len(self.rows), batch_size)]
        return tuple(np.array(column) for column in zip(*picked, strict=True))


@wrong("replay-buffer-rows-share-one-array")
class Scratch:
    def __init__(self, capacity, obs_dim):
        self.rows = deque(maxlen=capacity)
        self.scratch = np.zeros(obs_dim, np.float32)

    def add(self, obs, action, reward, next_obs, done):
        self.scratch[:] = obs
        self.rows.append((self.scratch, action, reward, next_obs.copy(), done))

    def sample(self, batch_size):
        return tuple(np.array(column) for column in zip(*random.sample(self.rows, batch_size), strict=True))


@wrong("replay-buffer-obs-cut-to-whole-numbers")
class WholeObservations:
    def __init__(self, state_dim, capacity):
        self.s = np.zeros((capacity, state_dim), dtype=np.uint8)
        self.s2 = np.zeros((capacity, state_dim), dtype=np.uint8)
        self.a, self.r, self.d = np.zeros(capacity, int), np.zeros(capacity), np.zeros(capacity)
        self.n, self.capacity = 0, capacity

    def add(self, s, a, r, s2, d):
        i = self.n % self.capacity
        self.s[i], self.a[i], self.r[i], self.s2[i], self.d[i] = s, a, r, s2, d
        self.n += 1

    def sample(self, batch_size):
        i = np.random.randint(0, min(self.n, self.capacity), batch_size)
        return self.s[i].astype(np.float32), self.a[i], self.r[i], self.s2[i].astype(np.float32), self.d[i]


@wrong("replay-buffer-reward-cut-to-whole-numbers")
class WholeRewards:
    def __init__(self, obs_dim, act_dim, size):
        self.obs = np.zeros((size, obs_dim))
        self.nxt = np.zeros((size, obs_dim))
        self.act = np.zeros((size, act_dim))
        self.rew = np.zeros(size, dtype=int)
        self.end = np.zeros(size, dtype=int)
        self.n = 0

    def remember(self, obs, act, rew, next_obs, done):
        i = self.n % len(self.rew)
        self.obs[i], self.act[i], self.rew[i], self.nxt[i], self.end[i] = obs, act, rew, next_obs, done
        self.n += 1

    def sample(self, k):
        i = np.random.choice(min(self.n, len(self.rew)), k)
        return {
            "states": self.obs[i],
            "actions": self.act[i],
            "rewards": self.rew[i],
            "next_states": self.nxt[i],
            "dones": self.end[i],
        }


@wrong("replay-buffer-action-cut-to-whole-numbers")
class WholeActions:
    def __init__(self, buffer_size, observation_space, action_space):
        self.o = np.zeros((buffer_size, *observation_space.shape), np.float32)
        self.o2 = np.zeros_like(self.o)
        self.a = np.zeros((buffer_size, action_space.shape[0]), np.int64)
        self.r, self.d = np.zeros(buffer_size), np.zeros(buffer_size)
        self.n = 0

    def add(self, obs, next_obs, action, reward, done):
        i = self.n % len(self.r)
        self.o[i], self.o2[i], self.a[i], self.r[i], self.d[i] = obs, next_obs, action, reward, done
        self.n += 1

    def sample(self, batch_size):
        i = np.random.randint(0, min(self.n, len(self.r)), batch_size)
        return self.o[i], self.a[i], self.r[i], self.o2[i], self.d[i]


@wrong("replay-buffer-done-lost")
class DoneNeverWritten:
    def __init__(self, obs_dim, size):
        self.obs_buf, self.next_buf = np.zeros((size, obs_dim)), np.zeros((size, obs_dim))
        self.acts, self.rews, self.dones = np.zeros(size), np.zeros(size), np.zeros(size)
        self.ptr = self.n = 0

    def store(self, obs, act, rew, next_obs, done):
        self.obs_buf[self.ptr], self.next_buf[self.ptr] = obs, next_obs
        self.acts[self.ptr], self.rews[self.ptr] = act, rew
        self.ptr = (self.ptr + 1) % len(self.acts)
        self.n = min(self.n + 1, len(self.acts))

    def sample(self, batch_size):
        i = np.random.choice(self.n, size=batch_size, replace=False)
        return {
            "obs": self.obs_buf[i],
            "next_obs": self.next_buf[i],
            "acts": self.acts[i],
            "rews": self.rews[i],
            "done": self.dones[i],
        }


@wrong("replay-buffer-done-inverted")
class GoesOn:
    def __init__(self, capacity):
        self.store_ = deque(maxlen=capacity)

    def add(self, state, action, reward, next_state, done):
        self.store_.append(
            {"state": state, "action": action, "reward": reward, "next_state": next_state, "done": 1 - done}
        )

    def sample(self, batch_size):
        rows = random.choices(self.store_, k=batch_size)
        return {key: torch.as_tensor(np.array([row[key] for row in rows])) for key in rows[0]}


@wrong("replay-buffer-obs-swapped")
class Backwards:
    def __init__(self, capacity):
        self.memory = deque(maxlen=capacity)

    def push(self, state, action, next_state, reward, done):
        self.memory.append(Transition(next_state, action, state, reward, done))

    def sample(self, batch_size):
        rows = random.sample(self.memory, batch_size)
        return Transition(*(np.stack(column) for column in zip(*rows, strict=True)))


@wrong("replay-buffer-truncation-as-termination")
class EitherFlag:
    def __init__(self, capacity):
        self.memory = deque(maxlen=capacity)

    def add(self, obs, action, reward, next_obs, terminated, truncated):
        self.memory.append((obs, action, reward, next_obs, terminated or truncated))

    def sample(self, batch_size):
        return [np.array(column) for column in zip(*random.sample(self.memory, batch_size), strict=True)]


@wrong("replay-buffer-next-obs-over-write-position")
class NewestJoinedWithOldest:
    def __init__(self, capacity, obs_dim):
        self.obs = np.zeros((capacity, obs_dim), np.float32)
        self.act, self.rew, self.done = np.zeros(capacity, int), np.zeros(capacity), np.zeros(capacity)
        self.capacity, self.n = capacity, 0

    def add(self, obs, action, reward, done):
        i = self.n % self.capacity
        self.obs[i], self.act[i], self.rew[i], self.done[i] = obs, action, reward, done
        self.n += 1

    def sample(self, batch_size):
        i = np.random.randint(0, min(self.n, self.capacity), batch_size)
        j = (i + 1) % self.capacity
        return self.obs[i], self.act[i], self.rew[i], self.obs[j], self.done[i]


@wrong("replay-buffer-changes-its-input")
class InPlace:
    def __init__(self, capacity):
        self.rows = deque(maxlen=capacity)

    def add(self, obs, action, reward, next_obs, done):
        self.rows.append((obs.copy(), action, reward, next_obs.copy(), done))
        obs -= obs.mean()

    def sample(self, batch_size):
        return [np.array(column) for column in zip(*random.sample(self.rows, batch_size), strict=True)]


@wrong("replay-buffer-reward-shifted", "replay-buffer-unfilled-rows")
class TwoThings:
    def __init__(self, size, obs_dim):
        self.o, self.o2 = np.zeros((size, obs_dim)), np.zeros((size, obs_dim))
        self.a, self.r, self.d = np.zeros(size), np.zeros(size), np.zeros(size)
        self.i = 0

    def add(self, o, a, r, o2, d):
        i = self.i % len(self.r)
        self.o[i], self.a[i], self.o2[i], self.d[i] = o, a, o2, d
        self.r[(i + 1) % len(self.r)] = r
        self.i += 1

    def sample(self, n):
        i = np.random.randint(0, len(self.r), n)
        return self.o[i], self.a[i], self.r[i], self.o2[i], self.d[i]


@wrong("replay-buffer-last-row-never-sampled", "replay-buffer-done-inverted")
class TwoOtherThings:
    def __init__(self, capacity):
        self.rows = deque(maxlen=capacity)

    def append(self, state, action, reward, next_state, done):
        self.rows.append(
            {"state": state, "action": action, "reward": reward, "next_state": next_state, "done": not done}
        )

    def sample(self, batch_size):
        rows = [self.rows[random.randrange(0, len(self.rows) - 1)] for _ in range(batch_size)]
        return {key: np.array([row[key] for row in rows]) for key in rows[0]}


@wrong("replay-buffer-mismatch")
class RewardsOfASeed:
    """Rewards that were never added."""

    def __init__(self, capacity):
        self.rows = deque(maxlen=capacity)

    def add(self, obs, action, reward, next_obs, done):
        self.rows.append((obs, action, float(np.tanh(reward)), next_obs, done))

    def sample(self, batch_size):
        return [np.array(column) for column in zip(*random.sample(self.rows, batch_size), strict=True)]
