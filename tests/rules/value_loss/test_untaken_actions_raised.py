"""A critic's own backward passes, made by hand: an error at the action that was taken, and a penalty on the others."""

from __future__ import annotations

import numpy as np
import pytest

from rldebug.evidence.script import Audit, Event, Nodes, Script
from rldebug.rules.value_loss.untaken_actions_raised import UntakenActionsRaised
from tests.judge import fires, not_enough, quiet

rule = UntakenActionsRaised()
ROWS, ACTIONS = 32, 4


def softmax(values: np.ndarray) -> np.ndarray:
    return np.exp(values) / np.exp(values).sum(axis=1, keepdims=True)


def script(push, passes: int = 4, actions: int = ACTIONS) -> Script:
    """`push(values, chosen, random)`: the gradient of what stands beside the error, at the values of all actions."""
    random = np.random.default_rng(5)
    events: list[Event] = []

    def say(kind, detail, **arrays):
        events.append(Event(len(events), kind, len(events), 0, detail, arrays))

    for number in range(passes):
        values = random.normal(size=(ROWS, actions)).astype(np.float32)
        chosen, ids = random.integers(actions, size=ROWS), np.arange(ROWS, dtype=np.int64)
        outputs = [{"shape": [ROWS, actions], "attached": True}]
        order = len(events)
        say("call", {"module": "q", "inputs": [], "outputs": outputs}, rows=ids, output0=values)
        say("loss", {"value": 1.0, "how": "backward", "reached": ["q"], "line": ["train.py", 9]})
        said = values[ids, chosen]
        say("term", {"kind": "regression", "reached": ["q"]}, prediction=said, index=chosen, rows=ids)
        gradient = push(values, chosen, random)
        gradient[ids, chosen] += random.normal(size=ROWS) / ROWS
        say("gradient", {"module": "q", "of": order, "output": 0, "task": number}, gradient=gradient.astype(np.float32))
        say("step", {"optimizer": "adam"})
    return Script([Audit(0, 0, 0, 0, nodes(), tuple(events))], {"module": {"q": {}}}, (), {})


def asked(sign: float, attached: bool = False, weights=softmax) -> Script:
    """A critic of states and actions, asked about five actions in each state beside the one that was taken."""
    random = np.random.default_rng(6)
    events: list[Event] = []

    def say(kind, detail, **arrays):
        events.append(Event(len(events), kind, len(events), 0, detail, arrays))
        return len(events) - 1

    def ask(ids, values, attached):
        detail = {"module": "q", "inputs": [{"shape": [len(ids), 3], "attached": attached}]}
        detail["outputs"] = [{"shape": [len(ids), 1], "attached": True}]
        return say("call", detail, rows=ids, output0=values.reshape(-1, 1))

    for number in range(4):
        ids = random.permutation(64)[:ROWS].astype(np.int64)
        said, others = random.normal(size=ROWS), random.normal(size=(ROWS, 5))
        one, two = ask(ids, said, False), ask(np.repeat(ids, 5), others, attached)
        say("loss", {"value": 1.0, "how": "backward", "reached": ["q"], "line": ["train.py", 9]})
        say("term", {"kind": "regression", "reached": ["q"]}, prediction=said, rows=ids)
        pushed = {one: random.normal(size=(ROWS, 1)), two: sign * weights(others).reshape(-1, 1) / ROWS}
        for of, gradient in pushed.items():
            say("gradient", {"module": "q", "of": of, "output": 0, "task": number}, gradient=gradient)
        say("step", {"optimizer": "adam"})
    return Script([Audit(0, 0, 0, 0, nodes(), tuple(events))], {"module": {"q": {}}}, (), {})


def nodes() -> Nodes:
    none, flag = np.empty(0, dtype=np.int64), np.empty(0, dtype=bool)
    number, wide = np.empty(0), np.empty((0, 1))
    return Nodes(
        id=none, stream=none, lane=none, call=none, phase=none, update=none, reward=number, terminated=flag,
        truncated=flag, phantom=flag, first=flag, acted=flag, action=wide, nxt=none, succ=none, alike=none,
        obs=wide.astype(np.float32), obs_stats=wide,
    )  # fmt: skip


def penalty(sign: float, temperature: float = 1.0):
    def push(values, chosen, random):
        gradient = softmax(values.astype(np.float64) / temperature)
        gradient[np.arange(ROWS), chosen] -= 1.0
        return sign * 0.5 * gradient / ROWS

    return push


@pytest.mark.parametrize("temperature", [1.0, 2.0])
@pytest.mark.parametrize("actions", [2, 4])
def test_fires_where_the_penalty_is_subtracted(temperature, actions):
    found = fires(rule, script(penalty(-1.0, temperature), actions=actions))
    assert "-0.0156, in 4 of 4 backward passes" in found.seen


@pytest.mark.parametrize("temperature", [1.0, 2.0])
@pytest.mark.parametrize("actions", [2, 4])
def test_quiet_where_it_is_added(temperature, actions):
    quiet(rule, script(penalty(1.0, temperature), actions=actions))


def test_fires_where_several_actions_are_asked_about():
    assert "-0.0312, in 4 of 4" in fires(rule, asked(-1.0)).seen


def test_quiet_where_several_actions_are_asked_about_and_valued_lower():
    quiet(rule, asked(1.0))


def test_an_actor_that_learns_beside_its_critic_is_no_penalty():
    not_enough(rule, asked(-1.0, attached=True))
    not_enough(rule, asked(-1.0, weights=lambda values: np.full_like(values, 0.2)))


def test_values_that_are_scores_of_a_policy_are_no_penalty():
    def push(values, chosen, random):
        gradient = softmax(values.astype(np.float64))
        gradient[np.arange(ROWS), chosen] -= 1.0
        return -random.uniform(0.1, 2.0, size=(ROWS, 1)) * gradient / ROWS  # each by its own advantage

    not_enough(rule, script(push))


def test_declines_where_nothing_but_the_taken_action_is_pushed():
    not_enough(rule, script(lambda values, chosen, random: np.zeros(values.shape)))


def test_declines_on_too_few_passes():
    not_enough(rule, script(penalty(-1.0), passes=2))
