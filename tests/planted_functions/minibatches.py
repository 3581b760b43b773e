"""Minibatches as people cut them."""

from __future__ import annotations

import numpy as np
import torch

from tests.planted_functions import right, wrong


@right()
def cleanrl(obs, actions, logprobs, advantages, returns, values, minibatch_size):
    b_obs = obs.reshape((-1, *obs.shape[2:]))
    b_logprobs = logprobs.reshape(-1)
    b_actions = actions.reshape((-1, *actions.shape[2:]))
    b_advantages = advantages.reshape(-1)
    b_returns = returns.reshape(-1)
    b_values = values.reshape(-1)
    b_inds = np.arange(len(b_obs))
    np.random.shuffle(b_inds)
    for start in range(0, len(b_inds), minibatch_size):
        mb = b_inds[start : start + minibatch_size]
        yield b_obs[mb], b_actions[mb], b_logprobs[mb], b_advantages[mb], b_returns[mb], b_values[mb]


@right()
def of_a_dict(batch, batch_size):
    n = batch["obs"].shape[0] * batch["obs"].shape[1]
    flat = {key: value.reshape(n, *value.shape[2:]) for key, value in batch.items()}
    for idx in torch.randperm(n).split(batch_size):
        yield {key: value[idx] for key, value in flat.items()}


@right()
def ppo_iter(mini_batch_size, states, actions, log_probs, returns, advantage):
    order = np.random.permutation(states.shape[0])
    batches = []
    for i in range(0, states.shape[0], mini_batch_size):
        ids = order[i : i + mini_batch_size]
        batches.append((states[ids, :], actions[ids], log_probs[ids], returns[ids], advantage[ids]))
    return batches


@right()
def only_rows(batch_size, num_samples):
    order = np.random.permutation(num_samples)
    return [order[i : i + batch_size] for i in range(0, num_samples, batch_size)]


@right()
def env_by_env(obs, actions, values, returns, num_minibatches):
    steps, envs = obs.shape[:2]
    flat = [np.asarray(x).swapaxes(0, 1).reshape(steps * envs, *x.shape[2:]) for x in (obs, actions, values, returns)]
    rows = np.random.permutation(steps * envs)
    for part in np.array_split(rows, num_minibatches):
        yield {"obs": flat[0][part], "actions": flat[1][part], "values": flat[2][part], "returns": flat[3][part]}


@right()
def dropping_the_normalised(data, size):
    adv = data["advantages"]
    adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    rows = {"obs": data["obs"].flatten(0, 1), "action": data["actions"].flatten(0, 1), "adv": adv.flatten()}
    order = torch.randperm(len(rows["adv"]))
    return iter([{k: v[order[i : i + size]] for k, v in rows.items()} for i in range(0, len(order), size)])


@wrong("minibatches-envs-mixed")
def one_transposed(obs, actions, logprobs, advantages, batch_size):
    n = obs.shape[0] * obs.shape[1]
    obs, actions, logprobs = obs.reshape(n, -1), actions.reshape(n, *actions.shape[2:]), logprobs.reshape(n)
    advantages = advantages.transpose(0, 1).reshape(n) if torch.is_tensor(advantages) else advantages.T.reshape(n)
    order = np.random.permutation(n)
    for i in range(0, n, batch_size):
        j = order[i : i + batch_size]
        yield obs[j], actions[j], logprobs[j], advantages[j]


@wrong("minibatches-fields-drawn-apart")
def shuffled_alone(observations, actions, returns, batch_size):
    n = observations.shape[0] * observations.shape[1]
    observations = observations.reshape(n, -1)[torch.randperm(n)]
    actions = actions.reshape(n, *actions.shape[2:])[torch.randperm(n)]
    returns = returns.reshape(n)[torch.randperm(n)]
    for i in range(0, n, batch_size):
        yield {
            "obs": observations[i : i + batch_size],
            "action": actions[i : i + batch_size],
            "ret": returns[i : i + batch_size],
        }


@wrong("minibatches-fields-drawn-apart")
def one_not_shuffled(batch, size):
    n = len(batch["obs"]) if batch["obs"].ndim == 2 else batch["obs"].shape[0] * batch["obs"].shape[1]
    order = np.random.permutation(n)
    obs, act = batch["obs"].reshape(n, -1)[order], batch["action"].reshape(n, *batch["action"].shape[2:])[order]
    adv = batch["advantage"].reshape(n)
    return [(obs[i : i + size], act[i : i + size], adv[i : i + size]) for i in range(0, n, size)]


@wrong("minibatches-rows-missing")
def stops_early(obs, actions, log_probs, advantages, batch_size):
    n = obs.shape[0] * obs.shape[1]
    flat = [x.reshape(n, *x.shape[2:]) for x in (obs, actions, log_probs, advantages)]
    rows = torch.randperm(n)
    start = 0
    while start + batch_size < n:
        yield tuple(x[rows[start : start + batch_size]] for x in flat)
        start += batch_size


@wrong("minibatches-rows-twice")
def half_steps(obs, actions, advantages, batch_size):
    n = obs.shape[0] * obs.shape[1]
    flat = [x.reshape(n, *x.shape[2:]) for x in (obs, actions, advantages)]
    rows = np.random.permutation(n)
    for start in range(0, n, batch_size // 2):
        if start:
            yield [x[rows[start : start + batch_size]] for x in flat]
    yield [x[rows[:batch_size]] for x in flat]


@wrong("minibatches-drawn-with-replacement")
def random_each_time(states, actions, log_probs, returns, advantages, mini_batch_size):
    n = states.shape[0] * states.shape[1]
    states, actions = states.reshape(n, -1), actions.reshape(n, *actions.shape[2:])
    log_probs, returns, advantages = log_probs.reshape(n), returns.reshape(n), advantages.reshape(n)
    for _ in range(n // mini_batch_size):
        ids = np.random.randint(0, n, mini_batch_size)
        yield states[ids, :], actions[ids], log_probs[ids], returns[ids], advantages[ids]


@wrong("minibatches-drawn-with-replacement")
def rows_with_replacement(total_size, batch_size):
    for _ in range(total_size // batch_size):
        yield np.random.choice(total_size, batch_size)


@wrong("minibatches-same-batch-each-time")
def start_unused(obs, actions, values, batch_size):
    n = obs.shape[0] * obs.shape[1]
    rows = torch.randperm(n)
    for _start in range(0, n, batch_size):
        mb = rows[:batch_size]
        yield {
            "obs": obs.reshape(n, -1)[mb],
            "actions": actions.reshape(n, *actions.shape[2:])[mb],
            "values": values.reshape(n)[mb],
        }


@wrong("minibatches-envs-mixed", "minibatches-rows-missing")
def two_things(obs, actions, logprobs, advantages, batch_size):
    n = obs.shape[0] * obs.shape[1]
    columns = [x.reshape(n, *x.shape[2:]) for x in (obs, actions, logprobs)] + [advantages.T.reshape(n)]
    rows = np.random.permutation(n)[:-1]
    for i in range(0, n, batch_size):
        yield [x[rows[i : i + batch_size]] for x in columns]


@wrong("minibatches-envs-mixed", "minibatches-same-batch-each-time")
def two_other_things(batch, size):
    obs, values, returns = batch["obs"], batch["values"], batch["returns"]
    n = values.shape[0] * values.shape[1]
    rows = torch.randperm(n)[:size]
    for _ in range(n // size):
        yield {
            "obs": obs.reshape(n, -1)[rows],
            "values": values.reshape(n)[rows],
            "returns": returns.T.reshape(n)[rows],
        }


@wrong("minibatches-mismatch")
def two_steps_apart(obs, actions, values, batch_size):
    n = obs.shape[0] * obs.shape[1]
    values = np.roll(np.asarray(values), 2, axis=0).reshape(n)
    obs, actions = np.asarray(obs).reshape(n, -1), np.asarray(actions).reshape(n, *actions.shape[2:])
    rows = np.random.permutation(n)
    for start in range(0, n, batch_size):
        mb = rows[start : start + batch_size]
        yield obs[mb], actions[mb], values[mb]
