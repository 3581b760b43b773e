"""Rollout buffer: what was played comes back whole, each step once."""

from __future__ import annotations

from typing import Any

from rldebug.evidence.verification import Verification
from rldebug.oracles.audit.coding import Given, conclude
from rldebug.oracles.audit.drive import guarded, has_envs, through_forms
from rldebug.oracles.audit.rollout import ORDER, audit, forms_for
from rldebug.oracles.oracle import Mistake, Oracle


@guarded
def examine(target: Any, given: Given) -> Verification:
    envs = has_envs(target, given, ORDER)
    forms = forms_for(target, given, envs)
    report = through_forms(target, forms, lambda form, at: audit(target, form, at, given), envs=envs)
    return conclude("rollout-buffer", report, MISTAKES)


_PAIR = "The policy gradient multiplies the probability of one action with the advantage of another."

MISTAKES = (
    Mistake(
        "BUF171", "rollout-buffer-envs-mixed", "Fields of one row come from different environments.", {},
        wrong="obs = obs.reshape(-1, d); act = act.swapaxes(0, 1).reshape(-1)",
        right="obs = obs.reshape(-1, d); act = act.reshape(-1)",
        harm=_PAIR,
        fix="flatten all fields in the same order of steps and environments",
        seen_in="ikostrikov/pytorch-a2c-ppo-acktr-gail issue #97",
    ),
    Mistake(
        "BUF172", "rollout-buffer-reward-shifted", "Rows hold the reward of another step.", {},
        wrong="buf.store(obs, act, last_rew, val, logp)",
        right="buf.store(obs, act, rew, val, logp)",
        harm="Each action is credited with what its neighbour earned.",
        fix="store the reward of the step in the row of its action",
        seen_in="openai/spinningup issue #50",
    ),
    Mistake(
        "BUF173", "rollout-buffer-action-shifted", "Rows hold the action of another step.", {},
        wrong="self.act[self.ptr - 1] = act",
        right="self.act[self.ptr] = act",
        harm=_PAIR,
        fix="write all fields with the same index",
    ),
    Mistake(
        "BUF174", "rollout-buffer-value-shifted", "Rows hold the value of another step.", {},
        wrong="self.values[self.ptr + 1] = value",
        right="self.values[self.ptr] = value",
        harm="The baseline is that of another state; advantages are wrong at every step.",
        fix="write all fields with the same index",
    ),
    Mistake(
        "BUF175", "rollout-buffer-logp-shifted", "Rows hold the log-probability of another step.", {},
        wrong="logp = self.logp[idx - 1]",
        right="logp = self.logp[idx]",
        harm="The ratio of new to old probability is not 1 before the first update; clipping cuts at random.",
        fix="write and read all fields with the same index",
    ),
    Mistake(
        "BUF176", "rollout-buffer-obs-shifted", "Rows hold the observation of another step.", {},
        wrong="return self.obs[1:], self.actions",
        right="return self.obs[:-1], self.actions",
        harm=_PAIR,
        fix="return the observation the action was chosen from",
    ),
    Mistake(
        "BUF177", "rollout-buffer-fields-drawn-apart", "Each field is shuffled by itself.", {},
        wrong="np.random.shuffle(obs); np.random.shuffle(actions)",
        right="order = np.random.permutation(n); obs, actions = obs[order], actions[order]",
        harm="Rows are made of unrelated parts: there is nothing to learn from them.",
        fix="draw one order, and use it for all fields",
    ),
    Mistake(
        "BUF178", "rollout-buffer-rows-missing", "Some steps of the rollout never come out.", {},
        wrong="for start in range(0, n - batch_size, batch_size)",
        right="for start in range(0, n, batch_size)",
        harm="Part of what was played is thrown away, always the same part where it is not shuffled.",
        fix="go on to the last row",
    ),
    Mistake(
        "BUF179", "rollout-buffer-rows-twice", "Some steps come out more than once in an epoch.", {},
        wrong="batch = order[start : start + batch_size + 1]",
        right="batch = order[start : start + batch_size]",
        harm="These rows count double in every update.",
        fix="cut minibatches that do not overlap",
    ),
    Mistake(
        "BUF180", "rollout-buffer-drawn-with-replacement", "Minibatches are drawn with replacement.", {},
        wrong="idx = np.random.randint(0, n, batch_size)  # for each minibatch",
        right="order = np.random.permutation(n); idx = order[start : start + batch_size]",
        harm="In an epoch, a third of the rows is not seen, and others several times.",
        fix="shuffle once an epoch, and cut the order into minibatches",
        seen_in="37 implementation details of PPO, core detail 6",
    ),
    Mistake(
        "BUF181", "rollout-buffer-unfilled-rows", "Rows that were never written come out.", {},
        wrong="self.ptr += 1; self.obs[self.ptr] = obs",
        right="self.obs[self.ptr] = obs; self.ptr += 1",
        harm="Rows of zeros are learned from like any other.",
        fix="write to the position before it is moved, and return what was written",
    ),
    Mistake(
        "BUF182", "rollout-buffer-rows-share-one-array", "All rows are one and the same array.", {},
        wrong="self.obs.append(self.current)  # which is changed in place",
        right="self.obs.append(self.current.copy())",
        harm="All observations of the rollout turn into the last one.",
        fix="store a copy",
        seen_in="hill-a/stable-baselines changelog, DummyVecEnv",
    ),
    Mistake(
        "BUF183", "rollout-buffer-advantages-mispaired", "Advantages or returns belong to other rows.", {},
        wrong="adv = adv.T.reshape(-1); obs = obs.reshape(-1, d)",
        right="adv = adv.reshape(-1); obs = obs.reshape(-1, d)",
        harm="Actions are made likelier for what others did; the average return hides it.",
        fix="flatten and shuffle advantages like all other fields",
    ),
    Mistake(
        "BUF184", "rollout-buffer-old-rows-kept", "Steps of the rollout before come out again.", {},
        wrong="def reset(self): pass",
        right="def reset(self): self.ptr = 0",
        harm="The policy is updated with data of an older one, as if it were its own.",
        fix="start again from the first row after each update",
    ),
    Mistake(
        "BUF185", "rollout-buffer-obs-cut-to-whole-numbers", "Observations lose their fractions.", {},
        wrong="self.obs = np.zeros((steps, obs_dim), dtype=int)",
        right="self.obs = np.zeros((steps, obs_dim), dtype=np.float32)",
        harm="States that differ by fractions become the same.",
        fix="store observations with the dtype of the observation space",
        fine="For pictures, which are uint8 already.",
    ),
    Mistake(
        "BUF186", "rollout-buffer-reward-cut-to-whole-numbers", "Rewards lose their fractions.", {},
        wrong="self.rewards = np.zeros(steps, dtype=int)",
        right="self.rewards = np.zeros(steps, dtype=np.float32)",
        harm="A reward of 0.9 is stored as 0.",
        fix="store rewards as float32",
    ),
    Mistake(
        "BUF187", "rollout-buffer-action-cut-to-whole-numbers", "Continuous actions lose their fractions.", {},
        wrong="self.actions = np.zeros((steps, act_dim), dtype=int)",
        right="self.actions = np.zeros((steps, act_dim), dtype=np.float32)",
        harm="The probabilities of other actions than those played are pushed.",
        fix="store actions with the dtype of the action space",
    ),
    Mistake(
        "BUF188", "rollout-buffer-fields-exchanged", "A field comes back under the name of another one.", {},
        wrong="self.values[t], self.logp[t] = logp, value",
        right="self.values[t], self.logp[t] = value, logp",
        harm="Log-probabilities are taken for values, or rewards for either: the loss is of nothing that was meant.",
        fix="store each field in the place of its name, and return it under it",
    ),
)  # fmt: skip

ROLLOUT_BUFFER = Oracle(
    name="rollout-buffer",
    aliases="rollout rollouts rollout-storage trajectory-buffer ppo-buffer",
    code="BUF170",
    summary="Rollout buffer: every step that was added comes out once, with all that belongs to it.",
    formula="minibatches = the T · B rows (s_t, a_t, log π_t, V_t, A_t, …), each once and whole",
    example="class Buffer(n_steps, obs_dim, act_dim, n_envs): add(obs, action, …, value, logp), get(batch_size)",
    references="Schulman and others, *Proximal policy optimization algorithms*.",
    mistakes=MISTAKES,
    examine=examine,
)
