from rldebug.evidence.script import Script
from rldebug.rules.entropy.entropy_coefficient_never_used import EntropyCoefficientNeverUsed
from tests.judge import fires, not_enough, quiet
from tests.programs.options import program_of
from tests.watched import watched

rule = EntropyCoefficientNeverUsed()


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
    assert fires(rule, script(name="ent_coef", value=0.01, where="parameter", holder="loss")).severity == "warning"


def test_fires_as_a_note_when_it_may_be_left_over():
    assert fires(rule, script(name="entropy_coef", value=0.01)).severity == "note"


def test_quiet_when_it_is_read():
    quiet(rule, script(name="ent_coef", value=0.01, read=1))


def test_quiet_when_it_would_do_nothing():
    quiet(rule, script(name="ent_coef", value=0.0))


def test_declines_when_nothing_is_trained():
    not_enough(rule, Script())


IGNORED = """
    def loss(policy, entropy, ent_coef): return policy
    train(loss(1, 2, 0.01))
"""
USED = """
    def loss(policy, entropy, ent_coef): return policy - ent_coef * entropy
    train(loss(1, 2, 0.01))
"""


def test_fires_on_a_program_that_leaves_it_aside(monkeypatch):
    fires(rule, watched(program_of(IGNORED, monkeypatch), without=())[1])


def test_quiet_on_the_program_that_uses_it(monkeypatch):
    quiet(rule, watched(program_of(USED, monkeypatch), without=())[1])
