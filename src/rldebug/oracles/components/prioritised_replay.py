"""Prioritised replay: rows drawn by their priorities, and weights that make up for it."""

from __future__ import annotations

from typing import Any

from rldebug.evidence.verification import Verification
from rldebug.oracles.audit.coding import Given, conclude
from rldebug.oracles.audit.drive import first_forms, guarded, through_forms
from rldebug.oracles.audit.priorities import audit
from rldebug.oracles.oracle import Mistake, Oracle


@guarded
def examine(target: Any, given: Given) -> Verification:
    forms = first_forms(target, given)
    report = through_forms(target, forms, lambda form, at: audit(target, form, at, given))
    return conclude("prioritised-replay", report, MISTAKES)


_HARM = "Which rows are learned from, and how much, is not what the method says; the loss looks as usual."

MISTAKES = (
    Mistake(
        "BUF151", "prioritised-replay-not-by-priority", "Rows are drawn alike, whatever their priorities.", {},
        wrong="idx = np.random.randint(0, self.size, n)",
        right="idx = np.random.choice(self.size, n, p=self.p[: self.size] / self.p[: self.size].sum())",
        harm="This is plain replay, with weights that correct for something that does not happen.",
        fix="draw rows in proportion to their priorities, and keep the priorities that update is given",
    ),
    Mistake(
        "BUF152", "prioritised-replay-alpha-missing", "Priorities are not raised to α.", {},
        wrong="p = priorities / priorities.sum()",
        right="p = priorities**alpha / (priorities**alpha).sum()",
        harm="Sampling is greedier than was asked for: a few rows fill the batches.",
        fix="raise priorities to α before they are normalised",
    ),
    Mistake(
        "BUF153", "prioritised-replay-alpha-twice", "Priorities are raised to α twice.", {},
        wrong="self.tree[i] = p**alpha  # and p**alpha again when sampling",
        right="self.tree[i] = p**alpha",
        harm="Sampling is closer to uniform than was asked for.",
        fix="raise priorities to α either when they are stored or when rows are drawn",
        seen_in="pytorch/rl PR #3925",
    ),
    Mistake(
        "BUF154", "prioritised-replay-priority-inverted", "Rows with the smallest error are drawn most.", {},
        wrong="self.priorities[idx] = 1 / (abs(error) + eps)",
        right="self.priorities[idx] = abs(error) + eps",
        harm="What is already known is learned again and again.",
        fix="let priorities grow with the TD error",
    ),
    Mistake(
        "BUF155", "prioritised-replay-weights-sign-flipped", "Importance weights grow with the probability.", {},
        wrong="w = (N * p) ** beta",
        right="w = (N * p) ** -beta",
        harm="Rows that are drawn more often also count more: the bias is doubled and not corrected.",
        fix="use the exponent −β",
        seen_in="takoika/PrioritizedExperienceReplay issue #1",
    ),
    Mistake(
        "BUF156", "prioritised-replay-weights-not-normalised",
        "Importance weights are not divided by their maximum.", {},
        wrong="w = (N * p) ** -beta",
        right="w = (N * p) ** -beta; w /= w.max()",
        harm="Weights above 1 make single updates larger than the learning rate was chosen for.",
        fix="divide by the highest weight, of the batch or of the buffer",
        fine="Where the loss divides by the highest weight itself.",
        seen_in="chainer/chainerrl PR #570",
    ),
    Mistake(
        "BUF157", "prioritised-replay-weights-beta-missing", "β has no effect: weights are corrected in full.", {},
        wrong="w = 1 / (N * p)",
        right="w = (N * p) ** -beta",
        harm="Early in training, rows with a high priority hardly count.",
        fix="raise to −β",
    ),
    Mistake(
        "BUF158", "prioritised-replay-weights-without-alpha",
        "Weights are made of priorities, not of probabilities.", {},
        wrong="w = (N * priorities / priorities.sum()) ** -beta",
        right="w = (N * p) ** -beta  # p = priorities**alpha / (priorities**alpha).sum()",
        harm="The correction is stronger than the sampling it corrects.",
        fix="use the probabilities that rows were drawn with",
    ),
    Mistake(
        "BUF159", "prioritised-replay-weights-all-one", "Importance weights are all 1.", {},
        wrong="w = np.ones(n)",
        right="w = (N * p) ** -beta; w /= w.max()",
        harm="The expectation is taken under another distribution than that of the data: values are biased.",
        fix="weight rows by (N P)^−β",
        fine="Where β is 0 by intention.",
    ),
    Mistake(
        "BUF160", "prioritised-replay-weights-of-other-rows", "Weights do not belong to the rows they come with.", {},
        wrong="w = (N * np.sort(p[idx])) ** -beta",
        right="w = (N * p[idx]) ** -beta",
        harm=_HARM,
        fix="compute weights from the probabilities of the very rows, in their order",
    ),
    Mistake(
        "BUF161", "prioritised-replay-update-wrong-row", "Priorities are set for other rows than those named.", {},
        wrong="self.tree[idx + 1] = priority",
        right="self.tree[idx] = priority",
        harm="The error of one row decides how often another one is drawn.",
        fix="use the index that sample returned, with the same offset in both directions",
    ),
    Mistake(
        "BUF162", "prioritised-replay-new-items-not-highest", "New rows do not get the highest priority.", {},
        wrong="self.priorities[self.pos] = 1.0",
        right="self.priorities[self.pos] = self.max_priority",
        harm="Where errors are large, new transitions may never be drawn at all.",
        fix="give new rows the highest priority seen so far",
    ),
    Mistake(
        "BUF163", "prioritised-replay-index-not-of-row", "The index returned does not say which row it is.", {},
        wrong="return batch, np.arange(n), weights",
        right="return batch, idx, weights",
        harm="Priorities are set for rows that were not sampled.",
        fix="return the indices rows were read with",
        seen_in="pytorch/rl PR #3871",
    ),
    Mistake(
        "BUF164", "prioritised-replay-last-row-never-sampled", "The last row is never sampled.", {},
        wrong="total = tree.sum(0, len(self) - 1)",
        right="total = tree.sum(0, len(self))",
        harm="The newest transition cannot be drawn.",
        fix="take the sum over all rows: the end of a range does not count",
        seen_in="hill-a/stable-baselines issue #941",
    ),
    Mistake(
        "BUF165", "prioritised-replay-unfilled-rows", "Rows that were never written are sampled.", {},
        wrong="self.priorities = np.ones(capacity)",
        right="self.priorities = np.zeros(capacity)",
        harm="Until the buffer is full, much of each batch is zeros.",
        fix="give rows a priority only when they are written",
        seen_in="pytorch/rl PR #2239",
    ),
    Mistake(
        "BUF166", "prioritised-replay-rows-mispaired", "Rows are not made of fields of the same step.", {},
        wrong="obs, rew = self.obs[idx], self.rew[idx - 1]",
        right="obs, rew = self.obs[idx], self.rew[idx]",
        harm="Every row with it teaches something that never happened.",
        fix="run rldebug verify replay-buffer on it, which tells what is mixed up",
    ),
)  # fmt: skip

PRIORITISED_REPLAY = Oracle(
    name="prioritised-replay",
    aliases="per prioritized-replay prioritized-replay-buffer prioritised-replay-buffer prioritized-experience-replay",
    code="BUF150",
    summary="Prioritised replay: rows in proportion to their priorities to the power α, weights that correct for it.",
    formula="P(i) = p_i^α / Σ p^α,  w_i = (N P(i))^−β / max w;  new rows get the highest p",
    example="class Buffer(capacity, alpha): add(…), sample(batch_size, beta), update_priorities(indices, priorities)",
    references="Schaul and others, *Prioritized experience replay*.",
    mistakes=MISTAKES,
    examine=examine,
)  # fmt: skip
