import numpy as np
import torch

from rldebug.evidence.script import Audit, Event, Nodes, Script
from rldebug.rules.action_sampling.log_prob_of_squashed_action import LogProbOfSquashedAction
from tests.judge import fires, not_enough, quiet
from tests.programs.actor_critic import script
from tests.programs.gaussian_learners import learn
from tests.watched import watched

rule = LogProbOfSquashedAction()


def drawn(given, rows=64):
    """A draw from a Gaussian, and its log-prob of what `given` makes of it."""
    nodes: Nodes = script(audits=1, updates=0).audits[0].nodes
    numbers = np.random.default_rng(0).normal(size=(rows, 2)).astype(np.float32)
    params = np.tile(np.float32([0.0, 0.0, 1.0, 1.0]), (rows, 1))
    events = (
        Event(0, "sample", 0, 0, {"dist": "Normal"}, {"result": numbers, "params": params}),
        Event(
            1, "logp", 0, 0, {"dist": "Normal", "line": ["train.py", 3]}, {"value": given(numbers), "params": params}
        ),
    )
    return Script([Audit(0, 0, 0, 0, nodes, events)])


def test_fires_on_the_tanh_of_the_draw():
    assert "the tanh of what was drawn" in fires(rule, drawn(np.tanh)).seen


def test_quiet_on_the_draw_itself():
    quiet(rule, drawn(lambda numbers: numbers))


def test_declines_on_few_rows():
    not_enough(rule, drawn(np.tanh, rows=8))


def test_fires_where_a_loss_asks_for_the_tanh_of_what_was_drawn_long_before():
    fires(rule, watched(lambda: learn(changed=torch.tanh))[1])
