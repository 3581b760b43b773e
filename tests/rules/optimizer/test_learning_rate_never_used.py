from rldebug.evidence.script import Script
from rldebug.rules.optimizer.learning_rate_never_used import LearningRateNeverUsed
from tests.judge import fires, not_enough, quiet
from tests.programs.options import program_of
from tests.watched import watched

rule = LearningRateNeverUsed()


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
    counts = {"counts": {"all": {"updates": 9}}, "optimizer": {"adam": {"lr_first": 1e-3}}}
    return Script(notes=[note], things=counts)


def test_fires_when_the_optimizer_has_another_rate():
    assert "the optimizers began with 0.001" in fires(rule, script(name="lr", value=3e-4)).seen


def test_quiet_when_an_optimizer_has_that_rate_by_another_way():
    quiet(rule, script(name="lr", value=1e-3))


def test_quiet_when_it_is_read():
    quiet(rule, script(name="lr", value=3e-4, read=1))


def test_declines_when_nothing_is_trained():
    not_enough(rule, Script())


IGNORED = """
    import argparse
    parser = argparse.ArgumentParser()
    parser.add_argument('--lr', type=float, default=3e-4)
    args = parser.parse_args([])
    train()
"""
USED = """
    import argparse
    parser = argparse.ArgumentParser()
    parser.add_argument('--lr', type=float, default=3e-4)
    args = parser.parse_args([])
    opt.param_groups[0]['lr'] = args.lr
    train()
"""


def test_fires_on_a_program_that_leaves_it_aside(monkeypatch):
    fires(rule, watched(program_of(IGNORED, monkeypatch), without=())[1])


def test_quiet_on_the_program_that_uses_it(monkeypatch):
    quiet(rule, watched(program_of(USED, monkeypatch), without=())[1])
