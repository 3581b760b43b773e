"""n-step replay buffers as people write them."""

from __future__ import annotations

import random
from collections import deque

import numpy as np
import torch

from tests.planted_functions import right, wrong


@right()
class Rainbow:
    def __init__(self, obs_dim, size, batch_size=32, n_step=3, gamma=0.99):
        self.obs_buf = np.zeros([size, obs_dim], dtype=np.float32)
        self.next_obs_buf = np.zeros([size, obs_dim], dtype=np.float32)
        self.acts_buf = np.zeros([size], dtype=np.float32)
        self.rews_buf = np.zeros([size], dtype=np.float32)
        self.done_buf = np.zeros(size, dtype=np.float32)
        self.max_size, self.batch_size = size, batch_size
        self.ptr, self.size = 0, 0
        self.n_step_buffer = deque(maxlen=n_step)
        self.n_step, self.gamma = n_step, gamma

    def store(self, obs, act, rew, next_obs, done):
        self.n_step_buffer.append((obs, act, rew, next_obs, done))
        if len(self.n_step_buffer) < self.n_step:
            return ()
        rew, next_obs, done = self._get_n_step_info()
        obs, act = self.n_step_buffer[0][:2]
        self.obs_buf[self.ptr] = obs
        self.next_obs_buf[self.ptr] = next_obs
        self.acts_buf[self.ptr] = act
        self.rews_buf[self.ptr] = rew
        self.done_buf[self.ptr] = done
        self.ptr = (self.ptr + 1) % self.max_size
        self.size = min(self.size + 1, self.max_size)
        return self.n_step_buffer[0]

    def sample_batch(self):
        idxs = np.random.choice(self.size, size=self.batch_size, replace=False)
        return {
            "obs": self.obs_buf[idxs],
            "next_obs": self.next_obs_buf[idxs],
            "acts": self.acts_buf[idxs],
            "rews": self.rews_buf[idxs],
            "done": self.done_buf[idxs],
            "indices": idxs,
        }

    def _get_n_step_info(self):
        rew, next_obs, done = self.n_step_buffer[-1][-3:]
        for transition in reversed(list(self.n_step_buffer)[:-1]):
            r, n_o, d = transition[-3:]
            rew = r + self.gamma * rew * (1 - d)
            next_obs, done = (n_o, d) if d else (next_obs, done)
        return rew, next_obs, done


@right()
class Flushing:
    def __init__(self, capacity, n_steps, gamma):
        self.memory = deque(maxlen=capacity)
        self.window = deque()
        self.n, self.gamma = n_steps, gamma

    def _emit(self):
        reward = sum(self.gamma**i * step[2] for i, step in enumerate(self.window))
        state, action = self.window[0][:2]
        next_state, done = self.window[-1][3:]
        self.memory.append((state, action, reward, next_state, done))

    def push(self, state, action, reward, next_state, done):
        self.window.append((state, action, reward, next_state, done))
        if done:
            while self.window:
                self._emit()
                self.window.popleft()
        elif len(self.window) == self.n:
            self._emit()
            self.window.popleft()

    def sample(self, batch_size):
        s, a, r, s2, d = zip(*random.sample(self.memory, batch_size), strict=True)
        return np.stack(s), np.array(a), np.array(r), np.stack(s2), np.array(d)


@right()
class AtSampling:
    def __init__(self, buffer_size, obs_shape, action_dim, n_envs=1, n_step=1, gamma=0.99):
        n = buffer_size // n_envs
        self.n, self.n_envs, self.n_step, self.gamma = n, n_envs, n_step, gamma
        self.obs, self.next_obs = np.zeros((n, n_envs, *obs_shape)), np.zeros((n, n_envs, *obs_shape))
        self.act = np.zeros((n, n_envs, action_dim))
        self.rew, self.term, self.trunc = np.zeros((n, n_envs)), np.zeros((n, n_envs)), np.zeros((n, n_envs))
        self.count = 0

    def add(self, obs, action, reward, next_obs, terminated, truncated):
        i = self.count % self.n
        self.obs[i], self.act[i], self.rew[i], self.next_obs[i] = obs, action, reward, next_obs
        self.term[i], self.trunc[i] = terminated, truncated
        self.count += 1

    def sample(self, batch_size):
        held = min(self.count, self.n)
        out = {k: [] for k in ("obs", "action", "reward", "next_obs", "terminated", "discount")}
        for _ in range(batch_size):
            age, e = np.random.randint(held), np.random.randint(self.n_envs)
            start = self.count - 1 - age
            total, weight, t = 0.0, 1.0, start
            while True:
                i = t % self.n
                total += weight * self.rew[i, e]
                weight *= self.gamma
                if self.term[i, e] or self.trunc[i, e] or t - start + 1 == self.n_step or t == self.count - 1:
                    break
                t += 1
            first = start % self.n
            out["obs"].append(self.obs[first, e])
            out["action"].append(self.act[first, e])
            out["reward"].append(total)
            out["next_obs"].append(self.next_obs[i, e])
            out["terminated"].append(self.term[i, e])
            out["discount"].append(weight)
        return {k: torch.as_tensor(np.array(v)) for k, v in out.items()}


@right()
class Dicts:
    def __init__(self, maxlen, multi_step, gamma):
        self.rows, self.steps, self.g = deque(maxlen=maxlen), multi_step, gamma
        self.open = []

    def add(self, obs, action, reward, next_obs, done):
        for row in self.open:
            row["R"] += self.g ** row["k"] * reward
            row["k"] += 1
        self.open.append({"obs": obs, "action": action, "R": reward, "k": 1})
        ready = self.open if done else [row for row in self.open if row["k"] == self.steps]
        for row in ready:
            self.rows.append((row["obs"], row["action"], row["R"], next_obs, done))
        self.open = [] if done else [row for row in self.open if row["k"] < self.steps]

    def sample(self, n):
        return [np.array(column) for column in zip(*random.choices(self.rows, k=n), strict=True)]


@right()
class Objects:
    class Step:
        def __init__(self, state, action, reward, next_state, done):
            self.state, self.action, self.reward, self.next_state, self.done = state, action, reward, next_state, done

    def __init__(self, capacity, n, discount):
        self.capacity, self.n, self.discount = capacity, n, discount
        self.steps = []

    def append(self, state, action, reward, next_state, done):
        self.steps.append(self.Step(state, action, reward, next_state, done))
        self.steps = self.steps[-self.capacity :]

    def sample(self, batch_size):
        batch = []
        for i in np.random.randint(0, len(self.steps), batch_size):
            window = []
            for step in self.steps[i : i + self.n]:
                window.append(step)
                if step.done:
                    break
            total = 0.0
            for step in reversed(window):
                total = step.reward + self.discount * total
            batch.append((window[0].state, window[0].action, total, window[-1].next_state, window[-1].done))
        return batch


# Wrong ones.


class _Window:
    """A list of steps; `row` makes one row of a window. Each class below writes its own."""

    def __init__(self, capacity, n_step, gamma):
        self.capacity, self.n_step, self.gamma = capacity, n_step, gamma
        self.steps = []

    def add(self, obs, action, reward, next_obs, done):
        self.steps.append((obs, action, reward, next_obs, done))
        del self.steps[: -self.capacity]

    def cut(self, i):
        window = []
        for step in self.steps[i : i + self.n_step]:
            window.append(step)
            if step[4]:
                break
        return window

    def sample(self, batch_size):
        rows = [self.row(i) for i in np.random.randint(0, len(self.steps) - self.n_step, batch_size)]
        return [np.array(column) for column in zip(*rows, strict=True)]


@wrong("n-step-replay-crosses-episodes")
class OverTheEnd:
    def __init__(self, capacity, n_step, gamma):
        self.buf, self.window = deque(maxlen=capacity), deque(maxlen=n_step)
        self.gamma = gamma

    def add(self, s, a, r, s2, d):
        self.window.append((s, a, r, s2, d))
        if len(self.window) == self.window.maxlen:
            total = sum(self.gamma**k * w[2] for k, w in enumerate(self.window))
            self.buf.append((self.window[0][0], self.window[0][1], total, s2, d))

    def sample(self, batch_size):
        return [np.array(c) for c in zip(*random.sample(self.buf, batch_size), strict=True)]


@wrong("n-step-replay-crosses-truncation")
class OverTheLimit:
    def __init__(self, capacity, n_step, gamma):
        self.buf, self.window = deque(maxlen=capacity), deque(maxlen=n_step)
        self.gamma = gamma

    def add(self, obs, action, reward, next_obs, terminated, truncated):
        self.window.append((obs, action, reward, next_obs, terminated, truncated))
        if len(self.window) < self.window.maxlen:
            return
        total, weight = 0.0, 1.0
        for _, _, r, n, te, _tr in self.window:  # noqa: B007
            total += weight * r
            weight *= self.gamma
            if te:
                break
        self.buf.append(
            {"obs": self.window[0][0], "action": self.window[0][1], "reward": total, "next_obs": n, "terminated": te}
        )

    def sample(self, batch_size):
        rows = random.sample(self.buf, batch_size)
        return {key: np.array([row[key] for row in rows]) for key in rows[0]}


@wrong("n-step-replay-crosses-write-position")
class OverThePointer:
    def __init__(self, capacity, obs_dim, n_step, gamma):
        self.o, self.o2 = np.zeros((capacity, obs_dim)), np.zeros((capacity, obs_dim))
        self.a, self.r, self.d = np.zeros(capacity), np.zeros(capacity), np.zeros(capacity, bool)
        self.capacity, self.n_step, self.gamma, self.count = capacity, n_step, gamma, 0

    def add(self, obs, act, rew, next_obs, done):
        i = self.count % self.capacity
        self.o[i], self.a[i], self.r[i], self.o2[i], self.d[i] = obs, act, rew, next_obs, done
        self.count += 1

    def sample(self, batch_size):
        if self.count <= self.capacity:
            start = np.random.randint(0, self.count - self.n_step + 1, batch_size)
        else:
            start = np.random.randint(0, self.capacity, batch_size)
        total, alive, last = np.zeros(batch_size), np.ones(batch_size, bool), start.copy()
        for k in range(self.n_step):
            i = (start + k) % self.capacity
            total += np.where(alive, self.gamma**k * self.r[i], 0.0)
            last = np.where(alive, i, last)
            alive &= ~self.d[i]
        return self.o[start], self.a[start], total, self.o2[last], self.d[last]


@wrong("n-step-replay-undiscounted")
class Undiscounted(_Window):
    def row(self, i):
        w = self.cut(i)
        return w[0][0], w[0][1], sum(step[2] for step in w), w[-1][3], w[-1][4]


@wrong("n-step-replay-gamma-one-power-too-many")
class PowersFromOne(_Window):
    def row(self, i):
        total, g = 0.0, 1.0
        for step in (w := self.cut(i)):
            g *= self.gamma
            total += g * step[2]
        return w[0][0], w[0][1], total, w[-1][3], w[-1][4]


@wrong("n-step-replay-gamma-powers-reversed")
class Forwards(_Window):
    def row(self, i):
        total = 0.0
        for step in (w := self.cut(i)):
            total = step[2] + self.gamma * total
        return w[0][0], w[0][1], total, w[-1][3], w[-1][4]


@wrong("n-step-replay-gamma-not-raised")
class GammaOnce(_Window):
    def row(self, i):
        w = self.cut(i)
        return w[0][0], w[0][1], w[0][2] + self.gamma * sum(step[2] for step in w[1:]), w[-1][3], w[-1][4]


@wrong("n-step-replay-first-reward-only")
class FirstOnly(_Window):
    def row(self, i):
        w = self.cut(i)
        return w[0][0], w[0][1], w[0][2], w[-1][3], w[-1][4]


@wrong("n-step-replay-last-reward-missing")
class OneTooFew:
    def __init__(self, buffer_size, n_steps, gamma):
        self.mem, self.n, self.gamma, self.size = [], n_steps, gamma, buffer_size

    def store(self, state, action, reward, next_state, done):
        self.mem = ([*self.mem, (state, action, reward, next_state, done)])[-self.size :]

    def sample(self, batch_size):
        out = []
        for i in np.random.choice(len(self.mem) - self.n, batch_size):
            total, j = 0.0, 0
            for j in range(self.n):
                if j < self.n - 1:
                    total += self.gamma**j * self.mem[i + j][2]
                if self.mem[i + j][4]:
                    break
            out.append((*self.mem[i][:2], total, *self.mem[i + j][3:]))
        return tuple(map(np.array, zip(*out, strict=True)))


@wrong("n-step-replay-one-step-too-many")
class OneTooMany:
    def __init__(self, buffer_size, n_steps, gamma):
        self.mem, self.n, self.gamma, self.size = [], n_steps, gamma, buffer_size

    def store(self, state, action, reward, next_state, done):
        self.mem = ([*self.mem, (state, action, reward, next_state, done)])[-self.size :]

    def sample(self, batch_size):
        out = []
        for i in np.random.choice(len(self.mem) - self.n, batch_size):
            total, end = 0.0, None
            for j in range(self.n + 1):
                total += self.gamma**j * self.mem[i + j][2]
                if j < self.n:
                    end = self.mem[i + j]
                if self.mem[i + j][4]:
                    break
            out.append((*self.mem[i][:2], total, *end[3:]))
        return tuple(map(np.array, zip(*out, strict=True)))


@wrong("n-step-replay-next-obs-after-one-step")
class NextOfFirst(_Window):
    def row(self, i):
        w = self.cut(i)
        return w[0][0], w[0][1], sum(self.gamma**k * step[2] for k, step in enumerate(w)), w[0][3], w[-1][4]


@wrong("n-step-replay-next-obs-one-step-off")
class ObsOfLast(_Window):
    def row(self, i):
        w = self.cut(i)
        return w[0][0], w[0][1], sum(self.gamma**k * step[2] for k, step in enumerate(w)), w[-1][0], w[-1][4]


@wrong("n-step-replay-done-of-first-step")
class DoneOfFirst(_Window):
    def row(self, i):
        w = self.cut(i)
        return w[0][0], w[0][1], np.dot(self.gamma ** np.arange(len(w)), [step[2] for step in w]), w[-1][3], w[0][4]


@wrong("n-step-replay-done-one-step-off")
class DoneBefore(_Window):
    def row(self, i):
        w = self.cut(i)
        done = any(step[4] for step in self.steps[i : i + self.n_step - 1])
        return w[0][0], w[0][1], np.dot(self.gamma ** np.arange(len(w)), [step[2] for step in w]), w[-1][3], done


@wrong("n-step-replay-done-lost")
class NoFlag(_Window):
    def row(self, i):
        w = self.cut(i)
        return w[0][0], w[0][1], np.dot(self.gamma ** np.arange(len(w)), [step[2] for step in w]), w[-1][3]


@wrong("n-step-replay-action-of-last-step")
class LastAction(_Window):
    def row(self, i):
        w = self.cut(i)
        return w[0][0], w[-1][1], np.dot(self.gamma ** np.arange(len(w)), [step[2] for step in w]), w[-1][3], w[-1][4]


@wrong("n-step-replay-discount-not-of-window")
class FixedDiscount(_Window):
    def sample(self, batch_size):
        rows = []
        for i in np.random.randint(0, len(self.steps) - self.n_step, batch_size):
            w = self.cut(i)
            total = sum(self.gamma**k * step[2] for k, step in enumerate(w))
            rows.append((w[0][0], w[0][1], total, w[-1][3], w[-1][4]))
        obs, act, rew, nxt, done = (np.array(c) for c in zip(*rows, strict=True))
        discount = np.full(batch_size, self.gamma**self.n_step)
        return {"obs": obs, "action": act, "reward": rew, "next_obs": nxt, "done": done, "discount": discount}


@wrong("n-step-replay-end-of-episode-lost")
class ClearsAtTheEnd:
    def __init__(self, capacity, n_step, gamma):
        self.buf, self.window = deque(maxlen=capacity), []
        self.n, self.gamma = n_step, gamma

    def push(self, state, action, reward, next_state, done):
        self.window.append((state, action, reward))
        if len(self.window) == self.n:
            total = 0.0
            for _, _, r in reversed(self.window):
                total = r + self.gamma * total
            self.buf.append((*self.window[0][:2], total, next_state, done))
            self.window.pop(0)
        if done:
            self.window.clear()

    def sample(self, batch_size):
        return [np.array(c) for c in zip(*random.choices(self.buf, k=batch_size), strict=True)]


@wrong("n-step-replay-envs-mixed")
class OneWindowForAll:
    def __init__(self, capacity, n_step, gamma, num_envs):
        self.buf, self.window, self.gamma = deque(maxlen=capacity), deque(maxlen=n_step), gamma
        self.num_envs = num_envs

    def add(self, obs, action, reward, next_obs, done):
        for e in range(self.num_envs):
            self.window.append((obs[e], action[e], reward[e], next_obs[e], done[e]))
            if len(self.window) == self.window.maxlen:
                total, g = 0.0, 1.0
                for _, _, r, s2, d in self.window:  # noqa: B007
                    total, g = total + g * r, g * self.gamma
                    if d:
                        break
                self.buf.append((*self.window[0][:2], total, s2, d))

    def sample(self, batch_size):
        return [np.array(c) for c in zip(*random.choices(self.buf, k=batch_size), strict=True)]


@wrong("n-step-replay-undiscounted", "n-step-replay-done-of-first-step")
class TwoThings(_Window):
    def row(self, i):
        w = self.cut(i)
        return w[0][0], w[0][1], sum(s[2] for s in w), w[-1][3], w[0][4]


@wrong("n-step-replay-next-obs-after-one-step", "n-step-replay-action-of-last-step")
class TwoOtherThings(_Window):
    def row(self, i):
        w = self.cut(i)
        return w[0][0], w[-1][1], sum(self.gamma**k * s[2] for k, s in enumerate(w)), w[0][3], w[-1][4]


@wrong("n-step-replay-mismatch")
class Mean(_Window):
    def row(self, i):
        w = self.cut(i)
        return w[0][0], w[0][1], np.median([s[2] for s in w]) / 3, w[-1][3], w[-1][4]
