from dataclasses import replace

import numpy as np

from rldebug.evidence.script import Event, Script
from rldebug.rules.network.policy_output_cut_off import PolicyOutputCutOff
from tests.judge import fires, not_enough, quiet
from tests.programs.actor_critic import script

rule = PolicyOutputCutOff()


def said(shape, count=4, audits=2):
    """A policy over four actions, its outputs shaped by a function."""
    seen = script(audits=audits, updates=0)
    numbers = np.random.default_rng(0).normal(size=(64, 4)).astype(np.float32)
    rows = np.arange(64)
    call = {"module": "actor", "grad": True, "acting": False, "line": ["train.py", 4]}
    term = {"kind": "policy", "reached": ["actor"], "line": ["train.py", 8]}
    events = (
        Event(0, "call", 0, 0, call, {"rows": rows, "output0": shape(numbers)}),
        Event(1, "term", 0, 0, term, {"rows": rows}),
    )
    stream = {**seen.things["stream"]["0"], "facts": {"action_space": "Discrete", "action_n": count}}
    made = [replace(each, events=events) for each in seen.audits]
    return Script(made, {**seen.things, "stream": {"0": stream}})


def test_fires_on_a_relu_at_the_end():
    assert "exactly 0" in fires(rule, said(lambda numbers: np.maximum(numbers, 0))).seen


def test_quiet_on_plain_logits():
    quiet(rule, said(lambda numbers: numbers))


def test_quiet_on_probabilities_of_which_some_are_not_allowed():
    def probabilities(numbers):
        kept = np.maximum(numbers, 0) + np.float32([1, 0, 0, 0])
        return kept / kept.sum(axis=1, keepdims=True)

    quiet(rule, said(probabilities))


def test_declines_where_actions_are_not_counted():
    not_enough(rule, said(lambda numbers: numbers, count=0))
