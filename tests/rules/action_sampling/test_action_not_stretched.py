from dataclasses import replace

import numpy as np

from rldebug.evidence.script import Event, Script
from rldebug.rules.action_sampling.action_not_stretched import ActionNotStretched
from tests.judge import fires, not_enough, quiet
from tests.programs.actor_critic import script

rule = ActionNotStretched()


def drawn(stretch, high=2.0):
    """Actions that are a tanh of what was drawn, times a factor."""
    seen = script(audits=3, updates=0)
    audits = []
    for audit in seen.audits:
        numbers = np.random.default_rng(audit.number).normal(size=audit.nodes.action.shape)
        event = Event(900, "sample", 0, 0, {"dist": "Normal"}, {"result": numbers})
        nodes = replace(audit.nodes, action=stretch * np.tanh(numbers))
        audits.append(replace(audit, nodes=nodes, events=(*audit.events, event)))
    facts = {"action_space": "Box", "action_low": [-high] * 2, "action_high": [high] * 2}
    stream = {**seen.things["stream"]["0"], "facts": facts}
    return Script(audits, {**seen.things, "stream": {"0": stream}})


def test_fires_on_a_bare_tanh():
    assert "the bounds are -2 and 2" in fires(rule, drawn(1.0)).seen


def test_quiet_where_the_bounds_are_one():
    quiet(rule, drawn(1.0, high=1.0))


def test_declines_where_it_is_stretched():
    not_enough(rule, drawn(2.0))
