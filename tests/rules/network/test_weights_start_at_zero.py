from dataclasses import replace

from rldebug.evidence.script import Event
from rldebug.rules.network.weights_start_at_zero import WeightsStartAtZero
from tests.judge import fires, not_enough, quiet
from tests.programs.actor_critic import script

rule = WeightsStartAtZero()


def looked(*zero):
    seen = script(audits=len(zero), updates=1)
    audits = [
        replace(each, events=(Event(900, "weights", 20 * (place + 1), 0, {"module": "actor", "zero": zero[place]}),))
        for place, each in enumerate(seen.audits)
    ]
    return replace(seen, audits=audits)


def test_fires_where_they_stay_zero():
    assert "99.9% of them after 40 steps" in fires(rule, looked(1.0, 0.999)).seen


def test_quiet_where_the_last_layer_begins_at_zero():
    quiet(rule, looked(0.3, 0.1))


def test_declines_after_one_look():
    not_enough(rule, looked(1.0))
