from dataclasses import replace

from rldebug.evidence.script import Script
from rldebug.rules.entropy.entropy_bonus_missing import EntropyBonusMissing
from tests import wild
from tests.judge import fires, not_enough, quiet

rule = EntropyBonusMissing()


def seen(fault=""):
    return wild.seen("ppo", fault)[1]


def with_weight(script, value):
    notes = [each for each in script.notes if each.get("name") != "entropy_coef"]
    return replace(script, notes=[*notes, {"kind": "option", "name": "entropy_coef", "value": value}])


def test_fires_where_it_was_left_out():
    assert "0.01 where the loss is computed" in fires(rule, seen("no-entropy-in-loss")).seen


def test_quiet_where_it_is_in_the_loss():
    quiet(rule, seen())


def test_quiet_where_none_is_wanted():
    quiet(rule, with_weight(seen("no-entropy-in-loss"), 0.0))


def test_quiet_where_the_targets_are_not_those_of_the_environment():
    quiet(rule, replace(with_weight(seen("no-entropy-in-loss"), 0.01), audits=_without_values(seen())))


def _without_values(script):
    """The critic's terms left out: the entropy may be anywhere."""
    return [
        replace(each, events=tuple(e for e in each.events if e.kind != "term" or e["kind"] == "policy"))
        for each in script.audits
    ]


def test_declines_without_a_weight():
    not_enough(rule, Script())
