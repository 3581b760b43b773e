from rldebug.evidence.script import Script
from rldebug.rules.advantage.lambda_never_used import LambdaNeverUsed
from tests.judge import fires, not_enough, quiet
from tests.programs.options import program_of
from tests.watched import watched

rule = LambdaNeverUsed()


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


def test_fires_when_a_function_ignores_it():
    assert fires(rule, script(name="lam", value=0.95, where="parameter", holder="gae")).severity == "warning"


def test_fires_as_a_note_when_it_may_be_left_over():
    assert fires(rule, script(name="gae_lambda", value=0.95)).severity == "note"


def test_quiet_when_it_is_read():
    quiet(rule, script(name="lam", value=0.95, read=1))


def test_quiet_when_it_would_do_nothing():
    quiet(rule, script(name="lam", value=1.0))


def test_declines_when_nothing_is_trained():
    not_enough(rule, Script())


IGNORED = """
    def gae(errors, lam): return errors[0]
    train(gae([1, 2], 0.95))
"""
USED = """
    def gae(errors, lam): return errors[0] + lam * errors[1]
    train(gae([1, 2], 0.95))
"""


def test_fires_on_a_program_that_leaves_it_aside(monkeypatch):
    fires(rule, watched(program_of(IGNORED, monkeypatch), without=())[1])


def test_quiet_on_the_program_that_uses_it(monkeypatch):
    quiet(rule, watched(program_of(USED, monkeypatch), without=())[1])
