from dataclasses import replace

import numpy as np

from rldebug.evidence.script import Event
from rldebug.rules.exploration.actor_without_noise import ActorWithoutNoise
from tests.judge import fires, quiet
from tests.programs.actor_critic import script

rule = ActorWithoutNoise()


def silent(**how):
    return script(noise=lambda random, shape: 0.0, **how)


def with_draws(made, *, within):
    """The same, and the actor is seen to act with samples that are drawn before it returns, or after."""
    count = 40
    drawn = np.random.default_rng(0).normal(size=(count, 2))
    orders = np.arange(count) * 2
    audits = []
    for audit in made.audits:
        last = len(audit.events)
        call = next(each for each in audit.calls if each["module"] == "actor" and each["acting"])
        sample = Event(last, "sample", 0, 0, {"how": "rsample"}, {"result": drawn, "orders": orders + (not within) * 2})
        arrays = {**call.arrays, "output0": 2.0 * np.tanh(drawn), "orders": orders + 1}
        arrays["rows"] = np.full(count, -1)
        audits.append(replace(audit, events=(*audit.events, sample, replace(call, order=last + 1, arrays=arrays))))
    return replace(made, audits=audits)


def test_fires_where_the_output_is_executed():
    assert "80 of 80 steps" in fires(rule, silent()).seen


def test_quiet_with_noise():
    quiet(rule, script())


def test_quiet_where_the_output_is_a_sample_already():
    quiet(rule, with_draws(silent(), within=True))


def test_fires_where_a_sample_is_drawn_and_left():
    fires(rule, with_draws(silent(), within=False))


def drawing(made, audits=(0, 1)):
    """The actor has drawn numbers when it acted, by no distribution."""
    return replace(
        made,
        audits=[
            replace(
                audit,
                events=tuple(
                    replace(each, detail={**each.detail, "drew": True})
                    if audit.number in audits and each.kind == "call" and each["module"] == "actor" and each["acting"]
                    else each
                    for each in audit.events
                ),
            )
            for audit in made.audits
        ],
    )


def test_quiet_where_it_has_drawn_numbers_itself():
    quiet(rule, drawing(silent()))


def test_quiet_where_it_is_also_tested_at_its_mean():
    quiet(rule, drawing(silent(), audits=(0,)))


def test_fires_where_the_critic_is_given_another_output_than_what_is_executed():
    fires(rule, drawing(silent(sample=lambda random, mean: mean + random.normal(size=mean.shape))))
