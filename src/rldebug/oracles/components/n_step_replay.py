"""n-step replay buffer: sums of n rewards along one episode, with the state and the flag that follow them."""

from __future__ import annotations

from typing import Any

from rldebug.evidence.verification import Verification
from rldebug.oracles.audit.coding import Given, conclude
from rldebug.oracles.audit.drive import first_forms, guarded, has_envs, through_forms
from rldebug.oracles.audit.windows import ORDER, audit
from rldebug.oracles.oracle import Mistake, Oracle


@guarded
def examine(target: Any, given: Given) -> Verification:
    envs = has_envs(target, given, ORDER)
    forms = first_forms(target, given, ORDER)
    report = through_forms(target, forms, lambda form, at: audit(target, form, at, given), envs=envs)
    return conclude("n-step-replay", report, MISTAKES)


_HARM = "The target is biased in every update, more for larger n; nothing shows in the loss."

MISTAKES = (
    Mistake(
        "BUF131", "n-step-replay-crosses-episodes", "A window runs on over the end of an episode into the next.", {},
        wrong="R = sum(gamma**j * r[t + j] for j in range(n))",
        right="for j in range(n): R += gamma**j * r[t + j]; if done[t + j]: break",
        harm="The end of an episode is credited with the beginning of the next one.",
        fix="stop the window at the first step that ended an episode, for the sum, next_obs and done alike",
        seen_in="younggyoseo/FastTD3 issue #6",
    ),
    Mistake(
        "BUF132", "n-step-replay-crosses-truncation", "A window runs on where an episode was cut off.", {},
        wrong="if terminated[t + j]: break",
        right="if terminated[t + j] or truncated[t + j]: break",
        harm="After each time limit, two episodes are added up that have nothing to do with each other.",
        fix="stop the window at either flag",
    ),
    Mistake(
        "BUF133", "n-step-replay-crosses-write-position", "A window runs from the newest row on into the oldest.", {},
        wrong="idx = (start + np.arange(n)) % capacity",
        right="stop the window at the newest row",
        harm="Once the buffer is full, some windows join the newest steps with the oldest.",
        fix="leave out windows that contain the write position, or cut them short there",
        seen_in="younggyoseo/FastTD3 PR #7; thu-ml/tianshou issue #135",
    ),
    Mistake(
        "BUF134", "n-step-replay-undiscounted", "Rewards are summed without the discount.", {},
        wrong="R = sum(r[t + j] for j in range(n))",
        right="R = sum(gamma**j * r[t + j] for j in range(n))",
        harm=_HARM,
        fix="multiply the reward j steps later by γ^j",
    ),
    Mistake(
        "BUF135", "n-step-replay-gamma-one-power-too-many", "The first reward of a window is discounted already.", {},
        wrong="R = sum(gamma**(j + 1) * r[t + j] for j in range(n))",
        right="R = sum(gamma**j * r[t + j] for j in range(n))",
        harm=_HARM,
        fix="start with γ^0",
    ),
    Mistake(
        "BUF136", "n-step-replay-gamma-powers-reversed", "The first reward of a window is discounted most.", {},
        wrong="for step in window: R = step.reward + gamma * R",
        right="for step in reversed(window): R = step.reward + gamma * R",
        harm="What comes last counts most: credit goes to the wrong actions.",
        fix="run the recursion from the last step of the window to the first",
    ),
    Mistake(
        "BUF137", "n-step-replay-gamma-not-raised", "All rewards but the first are discounted by γ alone.", {},
        wrong="R = r[t] + gamma * sum(r[t + 1 : t + n])",
        right="R = sum(gamma**j * r[t + j] for j in range(n))",
        harm=_HARM,
        fix="multiply the reward j steps later by γ^j",
    ),
    Mistake(
        "BUF138", "n-step-replay-first-reward-only", "Only the first reward of a window is returned.", {},
        wrong="reward = window[0].reward",
        right="reward = sum(gamma**j * step.reward for j, step in enumerate(window))",
        harm="The rewards in between are lost, while the bootstrap is n steps away.",
        fix="sum the rewards of the window",
    ),
    Mistake(
        "BUF139", "n-step-replay-last-reward-missing", "The sum has one reward too few.", {},
        wrong="R = sum(gamma**j * r[t + j] for j in range(n - 1))",
        right="R = sum(gamma**j * r[t + j] for j in range(n))",
        harm="The reward of the last step is lost: at an end of an episode, that is often the only one.",
        fix="sum n rewards, the last of them that of the step which led to next_obs",
    ),
    Mistake(
        "BUF140", "n-step-replay-one-step-too-many", "The sum has one reward too many.", {},
        wrong="R = sum(gamma**j * r[t + j] for j in range(n + 1))",
        right="R = sum(gamma**j * r[t + j] for j in range(n))",
        harm="One reward is counted twice: in the sum, and in the value of the state it follows.",
        fix="sum n rewards",
    ),
    Mistake(
        "BUF141", "n-step-replay-next-obs-after-one-step",
        "next_obs is the one after the first step of the window.", {},
        wrong="next_obs = window[0].next_obs",
        right="next_obs = window[-1].next_obs",
        harm="The rewards of the window are counted again in the value that is added.",
        fix="return next_obs of the last step of the window",
    ),
    Mistake(
        "BUF142", "n-step-replay-next-obs-one-step-off", "next_obs is one step beside that after the window.", {},
        wrong="next_obs = window[-1].obs",
        right="next_obs = window[-1].next_obs",
        harm=_HARM,
        fix="return next_obs of the last step of the window",
    ),
    Mistake(
        "BUF143", "n-step-replay-done-of-first-step", "done is that of the first step of the window.", {},
        wrong="done = window[0].done",
        right="done = window[-1].done",
        harm="Windows that reach the end of an episode bootstrap from its last state.",
        fix="return the flag of the last step of the window",
    ),
    Mistake(
        "BUF144", "n-step-replay-done-one-step-off", "done is that of the step before the last of the window.", {},
        wrong="done = dones[t : t + n - 1].any()",
        right="done = dones[t : t + n].any()",
        harm="A window that ends with the episode bootstraps from its last state.",
        fix="return the flag of the last step of the window",
    ),
    Mistake(
        "BUF145", "n-step-replay-done-lost", "No field of a sample tells where an episode ended.", {},
        wrong="return obs, action, R, next_obs",
        right="return obs, action, R, next_obs, done",
        harm="Terminal states are bootstrapped from: values grow without end.",
        fix="return the flag of the last step of the window",
    ),
    Mistake(
        "BUF146", "n-step-replay-action-of-last-step", "The action is that of the last step of the window.", {},
        wrong="action = window[-1].action",
        right="action = window[0].action",
        harm="The return of one action is credited to another.",
        fix="return obs and action of the first step of the window",
    ),
    Mistake(
        "BUF147", "n-step-replay-discount-not-of-window", "The discount returned is γ^n for shorter windows too.", {},
        wrong="discount = gamma**n",
        right="discount = gamma**len(window)",
        harm="Where an episode was cut off, the value of its last state is discounted too much.",
        fix="raise γ to the number of rewards that were summed",
    ),
    Mistake(
        "BUF148", "n-step-replay-end-of-episode-lost", "The last steps of an episode never come out.", {},
        wrong="if done: self.window.clear()",
        right="while self.window: self.emit(); self.window.popleft()",
        harm="The values of the last n − 1 states are never trained, and yet bootstrapped from.",
        fix="emit the shorter windows when an episode ends",
    ),
    Mistake(
        "BUF149", "n-step-replay-envs-mixed", "A window holds steps of different environments.", {},
        wrong="self.window = deque(maxlen=n)  # one for all environments",
        right="self.windows = [deque(maxlen=n) for _ in range(n_envs)]",
        harm="Rewards of several environments are added up as if they were one episode.",
        fix="keep one window for each environment",
    ),
)  # fmt: skip

N_STEP_REPLAY = Oracle(
    name="n-step-replay",
    aliases="nstep-replay n-step-buffer n-step-replay-buffer multi-step-replay",
    code="BUF130",
    summary="n-step replay: each row sums up to n rewards of one episode, with the state and the flag after them.",
    formula="R_t = Σ_{j<m} γ^j r_{t+j},  next = s_{t+m},  done = done_{t+m−1};  m = n, or less where the episode ends",
    example="class Buffer(capacity, n_step, gamma): add(obs, action, reward, next_obs, done), sample(batch_size)",
    references="Sutton and Barto, *Reinforcement learning*, chapter 7.",
    mistakes=MISTAKES,
    examine=examine,
)
