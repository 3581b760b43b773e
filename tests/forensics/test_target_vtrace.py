"""Targets of steps that an older policy took."""

from dataclasses import replace

import numpy as np
import pytest

from rldebug.evidence.script import Audit, Event, Nodes, Script
from rldebug.forensics.targets import fit_targets

GAMMA, TIMES, LANES, ACTIONS = 0.95, 30, 4, 3


def learned(
    number: int,
    weigh,
    *,
    carried: bool = False,
    masked: bool = True,
    push: int | None = None,
    bootstrapped: bool = True,
) -> Audit:
    """One loss on steps of a policy of some updates ago, and what both policies said of them."""
    draw = np.random.default_rng(number)
    place = np.arange((TIMES + 1) * LANES).reshape(TIMES + 1, LANES)
    count = place.size
    action = draw.integers(0, ACTIONS, place.shape)
    reward = draw.normal(size=place.shape)
    ended = draw.random(place.shape) < 0.08
    ended[-1] = False
    acted = np.ones(place.shape, dtype=bool)
    acted[-1] = False
    after = np.full(place.shape, -1)
    after[:-1] = place[1:]
    old = draw.normal(size=(count, ACTIONS))
    new = old + 0.4 * draw.normal(size=old.shape)
    log_old, log_new = (each - np.log(np.exp(each).sum(axis=1, keepdims=True)) for each in (old, new))
    taken = np.arange(count), action.ravel()
    rho = weigh(np.exp(log_new[taken] - log_old[taken])).reshape(place.shape)
    value = draw.normal(size=place.shape)
    beyond = value.copy()
    beyond[-1] *= bootstrapped
    alive = 1.0 - ended if masked else np.ones(place.shape)
    target = value.copy()
    carry = np.zeros(LANES)
    for at in range(TIMES - 1, -1, -1):
        error = rho[at] * (reward[at] + GAMMA * alive[at] * beyond[at + 1] - value[at])
        carry = error + GAMMA * rho[at] * carry * (1.0 if carried else alive[at])
        target[at] = value[at] + carry
    zero, no = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=bool)
    obs = draw.normal(size=(count, 2)).astype(np.float32)
    nodes = Nodes(
        id=place.ravel(), stream=zero, lane=np.tile(np.arange(LANES), TIMES + 1),
        call=np.repeat(np.arange(TIMES + 1), LANES), phase=zero, update=zero,
        reward=np.where(acted, reward, np.nan).ravel(), terminated=(ended & acted).ravel(), truncated=no, phantom=no,
        first=no, acted=acted.ravel(), action=action.reshape(-1, 1).astype(np.float64), nxt=after.ravel(),
        succ=after.ravel(), alike=zero, obs=obs, obs_stats=np.repeat(obs[:, :1].astype(np.float64), 5, axis=1),
    )  # fmt: skip
    rows = place[:-1].ravel()
    last = place[-1]

    def call(order, update, ids, logits, grad, calls):
        arrays = {"rows": ids, "output0": logits[ids], "output1": value.reshape(-1, 1)[ids]}
        arrays |= {"orders": np.full(len(ids), order), "updates": np.full(len(ids), update)}
        detail = {"module": "net", "grad": grad, "acting": not grad, "calls": calls}
        return Event(order, "call", update, 0, detail, arrays)

    common = {"reached": ["net"], "coefficient": -1.0, "shapes": {}, "line": ["train.py", 3]}
    index = action.ravel()[rows]
    pushed = target - value
    if push is not None:  # by what leads to the target of so many steps on
        onward = np.roll(target, -push, axis=0)
        pushed = rho * (reward + GAMMA * alive * onward - value)
    policy = {"logp": log_new[taken][rows], "index": index, "weight": pushed.ravel()[rows], "rows": rows}
    critic = {"prediction": value.ravel()[rows], "target": target.ravel()[rows], "rows": rows}
    events = (
        call(0, 0, rows, old, False, TIMES),
        call(1, 2, np.concatenate([rows, last]) if bootstrapped else rows, new, True, 1),
        Event(2, "loss", 2, 0, {"how": "backward", "reached": ["net"]}),
        Event(3, "term", 2, 0, {**common, "kind": "policy", "op": "logp"}, policy),
        Event(4, "term", 2, 0, {**common, "kind": "regression", "op": "square"}, critic),
    )
    return Audit(number, number, 2, 0, nodes, events)


def fitted(weigh, **how):
    found = fit_targets(Script([learned(number, weigh, **how) for number in range(3)]))
    return next((each for each in found if each.name == "v-trace"), None)


def clipped(ratio):
    return np.minimum(ratio, 1.0)


def test_the_discount_and_the_ends_are_found():
    fit = fitted(clipped)
    assert abs(fit.gamma - GAMMA) < 1e-5
    assert abs(fit.lam - 1.0) < 1e-4
    assert not fit.mistake
    assert fit.rightly("terminated")
    assert fit.rightly("rollout")
    assert fit.audits == 3


@pytest.mark.parametrize(
    ("weigh", "mistake"),
    [
        (lambda ratio: np.maximum(ratio, 1.0), "weights-clipped-from-below"),
        (lambda ratio: np.minimum(1.0 / ratio, 1.0), "ratio-inverted"),
        (lambda ratio: 1.0 / ratio, "ratio-inverted"),
        (lambda ratio: ratio, ""),
    ],
)
def test_how_weights_are_made_is_seen(weigh, mistake):
    assert fitted(weigh).mistake == mistake


def test_a_trace_that_runs_over_ends_is_seen():
    assert fitted(clipped, carried=True).ending("terminated", "leak") is not None


def test_a_missing_mask_is_seen():
    assert fitted(clipped, masked=False).ending("terminated", "follows") is not None


def test_an_end_that_nobody_valued_is_seen_to_be_left_out():
    assert fitted(clipped, bootstrapped=False).ending("rollout", "zero") is not None


@pytest.mark.parametrize(("push", "seen"), [(None, ""), (1, ""), (0, "own")])
def test_what_log_probs_are_weighed_by_is_seen(push, seen):
    assert fitted(clipped, push=push).pushes == seen


def test_weights_that_belong_to_no_policy_explain_nothing():
    draw = np.random.default_rng(9)
    assert fitted(lambda ratio: draw.permutation(ratio)) is None


def test_a_program_without_an_environment_says_nothing():
    audit = learned(0, clipped)
    nothing = {name: column[:0] for name, column in vars(audit.nodes).items()}
    assert not fit_targets(Script([replace(audit, nodes=Nodes(**nothing))]))
