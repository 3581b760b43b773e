"""Rollout buffers as people write them."""

from __future__ import annotations

import numpy as np
import torch

from tests.planted_functions import right, wrong


@right()
class PPOBuffer:
    """Spinning Up."""

    def __init__(self, obs_dim, act_dim, size, gamma=0.99, lam=0.95):
        self.obs_buf = np.zeros((size, obs_dim), dtype=np.float32)
        self.act_buf = np.zeros((size, act_dim), dtype=np.float32)
        self.adv_buf = np.zeros(size, dtype=np.float32)
        self.rew_buf = np.zeros(size, dtype=np.float32)
        self.ret_buf = np.zeros(size, dtype=np.float32)
        self.val_buf = np.zeros(size, dtype=np.float32)
        self.logp_buf = np.zeros(size, dtype=np.float32)
        self.gamma, self.lam = gamma, lam
        self.ptr, self.path_start_idx, self.max_size = 0, 0, size

    def store(self, obs, act, rew, val, logp):
        assert self.ptr < self.max_size
        self.obs_buf[self.ptr] = obs
        self.act_buf[self.ptr] = act
        self.rew_buf[self.ptr] = rew
        self.val_buf[self.ptr] = val
        self.logp_buf[self.ptr] = logp
        self.ptr += 1

    def finish_path(self, last_val=0):
        path_slice = slice(self.path_start_idx, self.ptr)
        rews = np.append(self.rew_buf[path_slice], last_val)
        vals = np.append(self.val_buf[path_slice], last_val)
        deltas = rews[:-1] + self.gamma * vals[1:] - vals[:-1]
        running = 0.0
        for t in reversed(range(len(deltas))):
            running = deltas[t] + self.gamma * self.lam * running
            self.adv_buf[self.path_start_idx + t] = running
        self.ret_buf[path_slice] = self.adv_buf[path_slice] + vals[:-1]
        self.path_start_idx = self.ptr

    def get(self):
        assert self.ptr == self.max_size
        self.ptr, self.path_start_idx = 0, 0
        self.adv_buf = (self.adv_buf - self.adv_buf.mean()) / self.adv_buf.std()
        data = {
            "obs": self.obs_buf,
            "act": self.act_buf,
            "ret": self.ret_buf,
            "adv": self.adv_buf,
            "logp": self.logp_buf,
        }
        return {k: torch.as_tensor(v, dtype=torch.float32) for k, v in data.items()}


@right()
class Storage:
    """CleanRL's arrays as a class."""

    def __init__(self, num_steps, num_envs, obs_shape, device="cpu", gamma=0.99, gae_lambda=0.95):
        self.obs = torch.zeros((num_steps, num_envs, *obs_shape))
        self.actions = torch.zeros((num_steps, num_envs))
        self.logprobs = torch.zeros((num_steps, num_envs))
        self.rewards = torch.zeros((num_steps, num_envs))
        self.dones = torch.zeros((num_steps, num_envs))
        self.values = torch.zeros((num_steps, num_envs))
        self.gamma, self.lam = gamma, gae_lambda
        self.step = 0

    def add(self, obs, action, logprob, reward, done, value):
        self.obs[self.step], self.actions[self.step] = torch.as_tensor(obs), torch.as_tensor(action)
        self.logprobs[self.step], self.values[self.step] = torch.as_tensor(logprob), torch.as_tensor(value)
        self.rewards[self.step] = torch.as_tensor(reward)
        self.dones[self.step] = torch.as_tensor(done, dtype=torch.float32)
        self.step += 1

    def compute_returns(self, next_value, next_done):
        self.advantages = torch.zeros_like(self.rewards)
        last = 0
        for t in reversed(range(len(self.rewards))):
            following = next_value if t == len(self.rewards) - 1 else self.values[t + 1]
            alive = 1.0 - self.dones[t]
            delta = self.rewards[t] + self.gamma * following * alive - self.values[t]
            self.advantages[t] = last = delta + self.gamma * self.lam * alive * last
        self.returns = self.advantages + self.values

    def get(self, batch_size):
        n = self.rewards.numel()
        b_obs = self.obs.reshape(n, -1)
        flat = [x.reshape(-1) for x in (self.actions, self.logprobs, self.advantages, self.returns, self.values)]
        order = torch.randperm(n)
        for start in range(0, n, batch_size):
            mb = order[start : start + batch_size]
            yield (b_obs[mb], *(x[mb] for x in flat))

    def clear(self):
        self.step = 0


@right()
class Memory:
    """Lists, as in a well-known teaching repository."""

    def __init__(self, batch_size):
        self.states, self.probs, self.vals, self.actions, self.rewards, self.dones = [], [], [], [], [], []
        self.batch_size = batch_size

    def generate_batches(self):
        n_states = len(self.states)
        batch_start = np.arange(0, n_states, self.batch_size)
        indices = np.arange(n_states, dtype=np.int64)
        np.random.shuffle(indices)
        for i in batch_start:
            mb = indices[i : i + self.batch_size]
            yield {
                "states": np.array(self.states)[mb],
                "actions": np.array(self.actions)[mb],
                "old_probs": np.array(self.probs)[mb],
                "vals": np.array(self.vals)[mb],
                "rewards": np.array(self.rewards)[mb],
                "dones": np.array(self.dones)[mb],
            }

    def store_memory(self, state, action, probs, vals, reward, done):
        self.states.append(state)
        self.actions.append(action)
        self.probs.append(probs)
        self.vals.append(vals)
        self.rewards.append(reward)
        self.dones.append(done)

    def clear_memory(self):
        self.states, self.probs, self.vals, self.actions, self.rewards, self.dones = [], [], [], [], [], []


@right()
class RolloutStorage:
    """One observation more than steps; insert takes the one after the step."""

    def __init__(self, num_steps, num_processes, obs_shape, action_space, recurrent_hidden_state_size):
        self.obs = torch.zeros(num_steps + 1, num_processes, *obs_shape)
        self.recurrent_hidden_states = torch.zeros(num_steps + 1, num_processes, recurrent_hidden_state_size)
        self.rewards = torch.zeros(num_steps, num_processes, 1)
        self.value_preds = torch.zeros(num_steps + 1, num_processes, 1)
        self.returns = torch.zeros(num_steps + 1, num_processes, 1)
        self.action_log_probs = torch.zeros(num_steps, num_processes, 1)
        width = 1 if action_space.__class__.__name__ == "Discrete" else action_space.shape[0]
        self.actions = torch.zeros(num_steps, num_processes, width)
        self.masks = torch.ones(num_steps + 1, num_processes, 1)
        self.num_steps, self.step = num_steps, 0

    def insert(self, obs, recurrent_hidden_states, actions, action_log_probs, value_preds, rewards, masks):
        self.obs[self.step + 1].copy_(obs)
        self.recurrent_hidden_states[self.step + 1].copy_(recurrent_hidden_states)
        self.actions[self.step].copy_(actions)
        self.action_log_probs[self.step].copy_(action_log_probs)
        self.value_preds[self.step].copy_(value_preds)
        self.rewards[self.step].copy_(rewards)
        self.masks[self.step + 1].copy_(masks)
        self.step = (self.step + 1) % self.num_steps

    def after_update(self):
        self.obs[0].copy_(self.obs[-1])
        self.masks[0].copy_(self.masks[-1])

    def compute_returns(self, next_value, use_gae, gamma, gae_lambda):
        self.value_preds[-1] = next_value
        gae = 0
        for step in reversed(range(self.rewards.size(0))):
            mask = self.masks[step + 1]
            delta = self.rewards[step] + gamma * self.value_preds[step + 1] * mask - self.value_preds[step]
            gae = delta + gamma * gae_lambda * mask * gae
            self.returns[step] = gae + self.value_preds[step]

    def feed_forward_generator(self, advantages, num_mini_batch=None, mini_batch_size=None):
        steps, envs = self.rewards.size()[0:2]
        mini_batch_size = mini_batch_size or steps * envs // num_mini_batch
        order = torch.randperm(steps * envs)
        for indices in order.split(mini_batch_size):
            yield (
                self.obs[:-1].view(-1, *self.obs.size()[2:])[indices],
                self.actions.view(-1, self.actions.size(-1))[indices],
                self.value_preds[:-1].view(-1, 1)[indices],
                self.returns[:-1].view(-1, 1)[indices],
                self.masks[:-1].view(-1, 1)[indices],
                self.action_log_probs.view(-1, 1)[indices],
                advantages.view(-1, 1)[indices],
            )


@right()
class TimeMajor:
    def __init__(self, horizon, n_envs, obs_dim, act_dim):
        self.data = {
            "obs": np.zeros((horizon, n_envs, obs_dim), np.float32),
            "action": np.zeros((horizon, n_envs, act_dim), np.float32),
            "reward": np.zeros((horizon, n_envs), np.float32),
            "value": np.zeros((horizon, n_envs), np.float32),
            "logp": np.zeros((horizon, n_envs), np.float32),
            "done": np.zeros((horizon, n_envs), bool),
        }
        self.t = 0

    def append(self, transition):
        for key, value in transition.items():
            self.data[key][self.t] = value
        self.t += 1

    def get(self):
        self.t = 0
        return {key: torch.as_tensor(value.copy()) for key, value in self.data.items()}


# Wrong ones.


class _Arrays:
    """(T, B) arrays. Each class below writes and reads in its own way."""

    def __init__(self, n_steps, n_envs, obs_dim, act_dim):
        self.T, self.B, self.t = n_steps, n_envs, 0
        self.obs = np.zeros((n_steps, n_envs, obs_dim), np.float32)
        self.act = np.zeros((n_steps, n_envs, act_dim), np.float32)
        self.rew, self.val, self.logp, self.done = (np.zeros((n_steps, n_envs), np.float32) for _ in range(4))

    def add(self, obs, action, reward, done, value, log_prob):
        t = self.t
        self.obs[t], self.act[t], self.rew[t], self.done[t] = obs, action, reward, done
        self.val[t], self.logp[t] = value, log_prob
        self.t += 1

    def flat(self):
        n = self.T * self.B
        return {
            "obs": self.obs.reshape(n, -1),
            "act": self.act.reshape(n, -1),
            "rew": self.rew.reshape(n),
            "val": self.val.reshape(n),
            "logp": self.logp.reshape(n),
        }

    def get(self, batch_size):
        fields = self.flat()
        order = np.random.permutation(self.T * self.B)
        for start in range(0, len(order), batch_size):
            yield {key: value[order[start : start + batch_size]] for key, value in fields.items()}

    def reset(self):
        self.t = 0


@wrong("rollout-buffer-envs-mixed")
class SwappedForSome(_Arrays):
    def flat(self):
        return super().flat() | {
            "logp": self.logp.swapaxes(0, 1).reshape(-1),
            "act": self.act.swapaxes(0, 1).reshape(self.T * self.B, -1),
        }


@wrong("rollout-buffer-reward-shifted")
class LateReward:
    def __init__(self, size, obs_dim):
        self.obs, self.rest = np.zeros((size, obs_dim)), np.zeros((size, 4))
        self.ptr, self.last = 0, 0.0

    def store(self, obs, act, rew, val, logp):
        self.obs[self.ptr], self.rest[self.ptr] = obs, (act, self.last, val, logp)
        self.ptr, self.last = self.ptr + 1, rew

    def get(self):
        self.ptr = 0
        act, rew, val, logp = self.rest.T
        return self.obs, act, rew, val, logp


@wrong("rollout-buffer-action-shifted")
class ActionRolled(_Arrays):
    def flat(self):
        return super().flat() | {"act": np.roll(self.act, 1, axis=0).reshape(self.T * self.B, -1)}


@wrong("rollout-buffer-value-shifted")
class ValueOfNext(_Arrays):
    def flat(self):
        later = np.concatenate([self.val[1:], self.val[:1]])
        return super().flat() | {"val": later.reshape(-1)}


@wrong("rollout-buffer-logp-shifted")
class OldLogp:
    def __init__(self, rollout_length):
        self.rows, self.length, self.logp_before = [], rollout_length, -1.0

    def push(self, state, action, reward, done, value, log_prob):
        self.rows.append((state, action, reward, done, value, self.logp_before))
        self.logp_before = float(log_prob)

    def get(self):
        rows, self.rows = self.rows, []
        return dict(
            zip(
                ("states", "actions", "rewards", "dones", "values", "log_probs"),
                map(np.array, zip(*rows, strict=True)),
                strict=True,
            )
        )


@wrong("rollout-buffer-obs-shifted")
class ObservationsOneOff:
    def __init__(self, num_steps, num_envs, obs_shape):
        self.obs = torch.zeros(num_steps + 1, num_envs, *obs_shape)
        self.acts, self.logps = torch.zeros(num_steps, num_envs), torch.zeros(num_steps, num_envs)
        self.rews, self.vals, self.masks = (torch.zeros(num_steps, num_envs) for _ in range(3))
        self.k, self.num_steps = 0, num_steps

    def insert(self, obs, actions, action_log_probs, value_preds, rewards, masks):
        self.obs[self.k + 1] = obs
        self.acts[self.k], self.logps[self.k], self.vals[self.k] = actions, action_log_probs, value_preds
        self.rews[self.k], self.masks[self.k] = rewards, masks
        self.k = (self.k + 1) % self.num_steps

    def get(self):
        flat = [x.flatten() for x in (self.acts, self.logps, self.vals, self.rews)]
        return (self.obs[1:].flatten(0, 1), *flat)


@wrong("rollout-buffer-fields-drawn-apart")
class ShuffledAlone(_Arrays):
    def __init__(self, n_steps, n_envs, obs_dim, act_dim):
        super().__init__(n_steps, n_envs, obs_dim, act_dim)

    def get(self, batch_size):
        fields = {key: value.copy() for key, value in self.flat().items()}
        for value in fields.values():
            np.random.shuffle(value)
        for start in range(0, self.T * self.B, batch_size):
            yield {key: value[start : start + batch_size] for key, value in fields.items()}


@wrong("rollout-buffer-rows-missing")
class LastBatchLost(_Arrays):
    def get(self, batch_size):
        fields, order = self.flat(), np.random.permutation(self.T * self.B)
        for start in range(0, len(order) - batch_size, batch_size):
            yield {key: value[order[start : start + batch_size]] for key, value in fields.items()}


@wrong("rollout-buffer-rows-twice")
class Overlapping(_Arrays):
    def get(self, batch_size):
        fields, order = self.flat(), np.random.permutation(self.T * self.B)
        for start in range(0, len(order), batch_size):
            low = max(0, start - 1)
            yield tuple(value[order[low : start + batch_size]] for value in fields.values())


@wrong("rollout-buffer-drawn-with-replacement")
class RandomEachTime(_Arrays):
    def get(self, batch_size):
        fields = self.flat()
        for _ in range(self.T * self.B // batch_size):
            idx = np.random.randint(0, self.T * self.B, batch_size)
            yield {key: torch.as_tensor(value[idx]) for key, value in fields.items()}


@wrong("rollout-buffer-unfilled-rows")
class MovedFirst:
    def __init__(self, buffer_size, obs_dim, act_dim):
        self.obs, self.act = np.zeros((buffer_size + 1, obs_dim)), np.zeros((buffer_size + 1, act_dim))
        self.rest = np.zeros((buffer_size + 1, 3))
        self.pos, self.n = 0, buffer_size

    def add(self, obs, act, rew, val, logp):
        self.pos += 1
        self.obs[self.pos], self.act[self.pos], self.rest[self.pos] = obs, act, (rew, val, logp)

    def get(self):
        n, self.pos = self.n, 0
        return self.obs[:n], self.act[:n], self.rest[:n, 0], self.rest[:n, 1], self.rest[:n, 2]


@wrong("rollout-buffer-rows-share-one-array")
class OneArray:
    def __init__(self, horizon, obs_dim):
        self.now = np.zeros(obs_dim, np.float32)
        self.obs, self.acts, self.rews, self.logps, self.vals = [], [], [], [], []

    def store(self, obs, act, rew, val, logp):
        np.copyto(self.now, obs)
        self.obs.append(self.now)
        self.acts.append(act)
        self.rews.append(rew)
        self.vals.append(val)
        self.logps.append(logp)

    def get(self):
        out = {"obs": self.obs, "act": self.acts, "rew": self.rews, "val": self.vals, "logp": self.logps}
        self.obs, self.acts, self.rews, self.vals, self.logps = [], [], [], [], []
        return {key: torch.as_tensor(np.array(value)) for key, value in out.items()}


@wrong("rollout-buffer-advantages-mispaired")
class AdvantagesTransposed(_Arrays):
    def compute_returns_and_advantage(self, last_values, dones):
        self.adv, running, following = np.zeros_like(self.rew), 0.0, np.asarray(last_values)
        for t in reversed(range(self.T)):
            on = 1.0 - self.done[t]
            running = self.rew[t] + 0.5 * following * on - self.val[t] + 0.5 * 0.5 * on * running
            self.adv[t], following = running, self.val[t]

    def flat(self):
        return super().flat() | {"adv": self.adv.T.reshape(-1)}


@wrong("rollout-buffer-old-rows-kept")
class NeverCleared:
    def __init__(self, batch_size):
        self.batch_size = batch_size
        self.states, self.actions, self.logprobs, self.rewards, self.state_values, self.dones = [], [], [], [], [], []

    def add(self, state, action, log_prob, reward, value, done):
        for column, each in zip(
            (self.states, self.actions, self.logprobs, self.rewards, self.state_values, self.dones),
            (state, action, log_prob, reward, value, done),
            strict=True,
        ):
            column.append(each)

    def clear(self):
        self.rewards, self.dones = list(self.rewards), list(self.dones)

    def get(self):
        return tuple(np.array(x) for x in (self.states, self.actions, self.logprobs, self.rewards, self.state_values))


@wrong("rollout-buffer-obs-cut-to-whole-numbers")
class WholeObservations(_Arrays):
    def __init__(self, n_steps, n_envs, obs_dim, act_dim):
        super().__init__(n_steps, n_envs, obs_dim, act_dim)
        self.obs = self.obs.astype(np.int32)


@wrong("rollout-buffer-reward-cut-to-whole-numbers")
class WholeRewards(_Arrays):
    def __init__(self, n_steps, n_envs, obs_dim, act_dim):
        super().__init__(n_steps, n_envs, obs_dim, act_dim)
        self.rew = np.zeros((n_steps, n_envs), dtype=int)


@wrong("rollout-buffer-action-cut-to-whole-numbers")
class WholeActions:
    def __init__(self, buffer_size, observation_space, action_space, n_envs):
        self.o = np.zeros((buffer_size, n_envs, *observation_space.shape), np.float32)
        self.a = np.zeros((buffer_size, n_envs, action_space.shape[0]), np.int64)
        self.x = np.zeros((buffer_size, n_envs, 3))
        self.i = 0

    def add(self, obs, action, reward, episode_start, value, log_prob):
        self.o[self.i], self.a[self.i] = obs, action
        self.x[self.i] = np.stack([reward, value, log_prob], axis=-1)
        self.i += 1

    def reset(self):
        self.i = 0

    def get(self):
        n = self.o.shape[0] * self.o.shape[1]
        rew, val, logp = self.x.reshape(n, 3).T
        return self.o.reshape(n, -1), self.a.reshape(n, -1), rew, val, logp


@wrong("rollout-buffer-fields-exchanged")
class InEachOthersPlace(_Arrays):
    def add(self, obs, action, reward, done, value, log_prob):
        super().add(obs, action, reward, done, log_prob, value)


@wrong("rollout-buffer-action-shifted", "rollout-buffer-value-shifted")
class TwoThings(_Arrays):
    def flat(self):
        return super().flat() | {
            "act": np.roll(self.act, 1, axis=0).reshape(self.T * self.B, -1),
            "val": np.roll(self.val, -1, axis=0).reshape(-1),
        }


@wrong("rollout-buffer-reward-cut-to-whole-numbers", "rollout-buffer-logp-shifted")
class TwoOtherThings(_Arrays):
    def __init__(self, n_steps, n_envs, obs_dim, act_dim):
        super().__init__(n_steps, n_envs, obs_dim, act_dim)
        self.rew = np.zeros((n_steps, n_envs), dtype=int)

    def flat(self):
        return super().flat() | {"logp": np.roll(self.logp, 1, axis=0).reshape(-1)}


@wrong("rollout-buffer-mismatch")
class Mirrored(_Arrays):
    def flat(self):
        return super().flat() | {"act": self.act[::-1].reshape(self.T * self.B, -1)}
