from rldebug.evidence.script import Script
from rldebug.rules.discounting.discount_never_used import DiscountNeverUsed
from tests.judge import fires, not_enough, quiet
from tests.programs.options import program_of
from tests.watched import watched

rule = DiscountNeverUsed()


def script(**option):
    note = {
        "kind": "option",
        "where": "argparse",
        "read": 0,
        "shown": 0,
        "line": ["train.py", 3],
        "holder": "",
        **option,
    }
    counts = {"counts": {"all": {"updates": 9}}}
    return Script(notes=[note], things=counts)


def test_fires_when_the_option_is_never_read():
    found = fires(rule, script(name="gamma", value=0.99, shown=2))
    assert "the option `gamma` = 0.99 is read in no line" in found.seen
    assert "only printed (2 times)" in found.seen
    assert found.where.line == 3


def test_fires_when_a_function_ignores_it():
    found = fires(rule, script(name="discount", value=None, where="parameter", holder="returns"))
    assert "returns() takes `discount`" in found.seen


def test_quiet_when_it_is_read():
    quiet(rule, script(name="gamma", value=0.99, read=3))


def test_quiet_when_it_would_do_nothing():
    quiet(rule, script(name="gamma", value=1.0))


def test_quiet_when_another_setting_is_left_over():
    quiet(rule, script(name="width", value=3))


def test_declines_when_nothing_is_trained():
    not_enough(rule, Script())


IGNORED = """
    def returns(rewards, gamma): return sum(rewards)
    train(returns([1, 2], 0.9))
"""
USED = """
    def returns(rewards, gamma): return rewards[0] + gamma * rewards[1]
    train(returns([1, 2], 0.9))
"""


def test_fires_on_a_program_that_leaves_it_aside(monkeypatch):
    fires(rule, watched(program_of(IGNORED, monkeypatch), without=())[1])


def test_quiet_on_the_program_that_uses_it(monkeypatch):
    quiet(rule, watched(program_of(USED, monkeypatch), without=())[1])
