"""Replay buffer: rows that belong together, of the last transitions, drawn at random."""

from __future__ import annotations

from typing import Any

from rldebug.evidence.verification import Verification
from rldebug.oracles.audit.coding import Given, conclude
from rldebug.oracles.audit.drive import first_forms, guarded, has_envs, through_forms
from rldebug.oracles.audit.replay import audit
from rldebug.oracles.oracle import Mistake, Oracle


@guarded
def examine(target: Any, given: Given) -> Verification:
    envs = has_envs(target, given)
    forms = first_forms(target, given)
    report = through_forms(target, forms, lambda form, at: audit(target, form, at, given), envs=envs)
    return conclude("replay-buffer", report, MISTAKES)


_PAIR = "Every row with it teaches something that never happened; the loss falls all the same."

MISTAKES = (
    Mistake(
        "BUF101", "replay-buffer-reward-shifted", "Rows hold the reward of another step.", {},
        wrong="self.rewards[self.pos - 1] = reward",
        right="self.rewards[self.pos] = reward",
        harm="Each action is credited with what its neighbour earned.",
        fix="write and read all fields of a transition with the same index",
        seen_in="openai/spinningup issue #50",
    ),
    Mistake(
        "BUF102", "replay-buffer-action-shifted", "Rows hold the action of another step.", {},
        wrong="actions = self.actions[idx - 1]",
        right="actions = self.actions[idx]",
        harm=_PAIR,
        fix="write and read all fields of a transition with the same index",
    ),
    Mistake(
        "BUF103", "replay-buffer-done-shifted", "Rows hold the done flag of another step.", {},
        wrong="dones = self.dones[idx + 1]",
        right="dones = self.dones[idx]",
        harm="The bootstrap is cut one step beside the end, and the end itself bootstraps from the next episode.",
        fix="store the flag that env.step returned together with the reward of that step",
    ),
    Mistake(
        "BUF104", "replay-buffer-obs-shifted", "Rows hold the observation of another step.", {},
        wrong="obs = self.obs[idx + 1]",
        right="obs = self.obs[idx]",
        harm=_PAIR,
        fix="store the observation the action was chosen from",
    ),
    Mistake(
        "BUF105", "replay-buffer-next-obs-is-obs", "next_obs is the same observation as obs.", {},
        wrong="self.next_obs[self.pos] = obs",
        right="self.next_obs[self.pos] = next_obs",
        harm="Values are bootstrapped from the state itself: nothing is passed from later states to earlier ones.",
        fix="store the observation that env.step returned",
    ),
    Mistake(
        "BUF106", "replay-buffer-next-obs-of-next-episode",
        "At an end, next_obs is the first one of the next episode.", {},
        wrong="next_obs = self.obs[(idx + 1) % self.size]",
        right="next_obs = self.next_obs[idx]",
        harm="Where an episode was cut off, its last state is bootstrapped from a start state.",
        fix="store next_obs itself, with the final observation put in place where the environment resets by itself",
        fine="Where every episode ends by termination: then next_obs at an end is never used.",
        seen_in="openai/gym issue #3177",
    ),
    Mistake(
        "BUF107", "replay-buffer-next-obs-shifted", "next_obs is that of another step.", {},
        wrong="next_obs = self.next_obs[idx + 1]",
        right="next_obs = self.next_obs[idx]",
        harm="Values are bootstrapped over two steps with the reward of one.",
        fix="write and read all fields of a transition with the same index",
    ),
    Mistake(
        "BUF108", "replay-buffer-envs-mixed", "Fields of one row come from different environments.", {},
        wrong="obs = self.obs.reshape(-1, d)[i]; rew = self.rew.T.reshape(-1)[i]",
        right="obs = self.obs.reshape(-1, d)[i]; rew = self.rew.reshape(-1)[i]",
        harm=_PAIR,
        fix="draw one pair (step, environment) for a row, and read all fields with it",
    ),
    Mistake(
        "BUF109", "replay-buffer-fields-drawn-apart", "Each field is drawn with its own random index.", {},
        wrong="obs = random.sample(self.obs, n); actions = random.sample(self.actions, n)",
        right="idx = np.random.randint(0, self.size, n); obs, actions = self.obs[idx], self.actions[idx]",
        harm="Rows are made of unrelated parts: there is nothing to learn from them.",
        fix="draw the indices once, and use them for all fields",
    ),
    Mistake(
        "BUF110", "replay-buffer-last-row-never-sampled", "The last row is never sampled.", {},
        wrong="idx = np.random.randint(0, self.size - 1, n)",
        right="idx = np.random.randint(0, self.size, n)",
        harm="The newest transition is left out until the next one comes; in a full buffer one row always is.",
        fix="draw below size: the upper bound of randint does not count",
        seen_in="hill-a/stable-baselines issue #941",
    ),
    Mistake(
        "BUF111", "replay-buffer-sampled-below-write-position", "Only rows below the write position are sampled.", {},
        wrong="idx = np.random.randint(0, self.pos, n)",
        right="idx = np.random.randint(0, self.size, n)",
        harm="Once the buffer has gone round, all but the newest rows are forgotten: batches hold the same few steps.",
        fix="draw below the number of rows that are held, not below the write position",
    ),
    Mistake(
        "BUF112", "replay-buffer-stops-when-full", "A full buffer takes nothing new.", {},
        wrong="if len(self.data) < self.capacity: self.data.append(transition)",
        right="self.data[self.pos] = transition; self.pos = (self.pos + 1) % self.capacity",
        harm="Training goes on with the oldest data for ever; what the agent does now is never learned from.",
        fix="overwrite the oldest row",
    ),
    Mistake(
        "BUF113", "replay-buffer-never-forgets", "More transitions are kept than there should be room for.", {},
        wrong="self.data.append(transition)",
        right="self.data = deque(maxlen=capacity)",
        harm="Memory grows without end, and old data is replayed as often as new.",
        fix="drop the oldest transition when the capacity is reached",
    ),
    Mistake(
        "BUF114", "replay-buffer-overwrites-newest", "A full buffer overwrites its newest row, not its oldest.", {},
        wrong="self.pos = min(self.pos + 1, self.capacity - 1)",
        right="self.pos = (self.pos + 1) % self.capacity",
        harm="All but one row stay as they were when the buffer became full.",
        fix="let the write position go round",
    ),
    Mistake(
        "BUF115", "replay-buffer-wraps-early",
        "The ring turns round early: fewer rows are held than there is room for.", {},
        wrong="self.pos = (self.pos + 1) % (self.capacity - 1)",
        right="self.pos = (self.pos + 1) % self.capacity",
        harm="A row is never written: its place returns zeros, or old data is lost before its time.",
        fix="wrap the write position at the capacity",
    ),
    Mistake(
        "BUF116", "replay-buffer-unfilled-rows", "Rows that were never written are sampled.", {},
        wrong="idx = np.random.randint(0, self.capacity, n)",
        right="idx = np.random.randint(0, self.size, n)",
        harm="Until the buffer is full, much of each batch is zeros: a state, action and reward that do not exist.",
        fix="draw below the number of rows written so far",
    ),
    Mistake(
        "BUF117", "replay-buffer-breaks-when-full", "Adding to a full buffer raises.", {},
        wrong="self.pos += 1",
        right="self.pos = (self.pos + 1) % self.capacity",
        harm="Training stops with an IndexError after as many steps as the buffer has rows.",
        fix="let the write position go round",
    ),
    Mistake(
        "BUF118", "replay-buffer-one-row-for-the-batch", "A sample is one row, over and over.", {},
        wrong="idx = np.random.randint(self.size); return self.obs[[idx] * n]",
        right="idx = np.random.randint(0, self.size, n); return self.obs[idx]",
        harm="The batch size has no effect: each update learns from a single transition.",
        fix="draw as many indices as rows are asked for",
    ),
    Mistake(
        "BUF119", "replay-buffer-always-the-same-rows", "Every sample has the same rows.", {},
        wrong="rng = np.random.default_rng(0); idx = rng.integers(0, self.size, n)",
        right="idx = self.rng.integers(0, self.size, n)",
        harm="The rest of the buffer is never learned from.",
        fix="make the generator once, in the constructor, and draw from it at each call",
    ),
    Mistake(
        "BUF120", "replay-buffer-rows-share-one-array", "All rows are one and the same array.", {},
        wrong="self.scratch[:] = obs; self.data.append((self.scratch, action, reward))",
        right="self.data.append((obs.copy(), action, reward))",
        harm="All stored observations turn into the newest one.",
        fix="store a copy",
        seen_in="Farama-Foundation/SuperSuit PR #116",
    ),
    Mistake(
        "BUF121", "replay-buffer-obs-cut-to-whole-numbers", "Observations lose their fractions.", {},
        wrong="self.obs = np.zeros((capacity, obs_dim), dtype=np.uint8)",
        right="self.obs = np.zeros((capacity, obs_dim), dtype=np.float32)",
        harm="States that differ by fractions become the same; negative numbers wrap round.",
        fix="store observations with the dtype of the observation space",
        fine="For pictures, which are uint8 already.",
    ),
    Mistake(
        "BUF122", "replay-buffer-reward-cut-to-whole-numbers", "Rewards lose their fractions.", {},
        wrong="self.rewards = np.zeros(capacity, dtype=int)",
        right="self.rewards = np.zeros(capacity, dtype=np.float32)",
        harm="A reward of 0.9 is stored as 0.",
        fix="store rewards as float32",
        fine="Where all rewards are whole numbers.",
    ),
    Mistake(
        "BUF123", "replay-buffer-action-cut-to-whole-numbers", "Continuous actions lose their fractions.", {},
        wrong="self.actions = np.zeros((capacity, act_dim), dtype=np.int64)",
        right="self.actions = np.zeros((capacity, act_dim), dtype=np.float32)",
        harm="All actions within −1 and 1 are stored as 0: the critic cannot tell them apart.",
        fix="store actions with the dtype of the action space",
        fine="Where actions are whole numbers.",
    ),
    Mistake(
        "BUF124", "replay-buffer-done-lost", "No field of a sample tells where an episode ended.", {},
        wrong="self.dones = np.zeros(capacity)  # and never written",
        right="self.dones[self.pos] = done",
        harm="Terminal states are bootstrapped from: values grow without end.",
        fix="store and return the flag",
    ),
    Mistake(
        "BUF125", "replay-buffer-done-inverted", "What is called done holds not done, or the other way round.", {},
        wrong="self.dones[self.pos] = 1 - done",
        right="self.dones[self.pos] = done",
        harm="A target that multiplies by 1 − done bootstraps at ends only.",
        fix="store the flag as it is, or call the field not_done and multiply by it",
    ),
    Mistake(
        "BUF126", "replay-buffer-obs-swapped", "obs and next_obs are exchanged.", {},
        wrong="return self.next_obs[idx], self.actions[idx], self.rewards[idx], self.obs[idx]",
        right="return self.obs[idx], self.actions[idx], self.rewards[idx], self.next_obs[idx]",
        harm="Time runs backwards: states are credited with what led to them.",
        fix="return them under the names they have",
    ),
    Mistake(
        "BUF127", "replay-buffer-truncation-as-termination",
        "Both flags go in; only whether either was set comes out.", {},
        wrong="self.dones[self.pos] = terminated or truncated",
        right="self.dones[self.pos] = terminated",
        harm="What follows a time limit counts as worth nothing; values near the limit are too low.",
        fix="return terminated, which alone stops the bootstrap",
    ),
    Mistake(
        "BUF128", "replay-buffer-next-obs-over-write-position",
        "The newest row gets the oldest observation as its next.", {},
        wrong="next_obs = self.obs[(idx + 1) % self.capacity]  # idx may be the newest row",
        right="idx = idx[idx != newest]",
        harm="One row of the buffer joins two moments that have nothing to do with each other.",
        fix="leave the newest row out of samples, or store its next_obs",
    ),
    Mistake(
        "BUF129", "replay-buffer-changes-its-input", "add() changes the arrays it is given.", {},
        wrong="obs /= 255; self.obs[self.pos] = obs",
        right="self.obs[self.pos] = obs / 255",
        harm="The caller acts on the changed observation.",
        fix="work on a copy",
    ),
)  # fmt: skip

REPLAY_BUFFER = Oracle(
    name="replay-buffer",
    aliases="replay buffer replay-memory experience-replay memory",
    code="BUF100",
    summary="Replay buffer: rows that were added, whole, of the last ones, each as likely as the others.",
    formula="sample ⊂ {(s_t, a_t, r_t, s_{t+1}, done_t): the last `capacity` transitions}",
    example="class Buffer: add(obs, action, reward, next_obs, done), sample(batch_size)",
    references="Lin, *Self-improving reactive agents based on reinforcement learning, planning and teaching*.",
    mistakes=MISTAKES,
    examine=examine,
)
