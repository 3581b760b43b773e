from rldebug.evidence.script import Script
from rldebug.rules.policy_loss.clip_range_never_used import ClipRangeNeverUsed
from tests.judge import fires, not_enough, quiet
from tests.programs.options import program_of
from tests.watched import watched

rule = ClipRangeNeverUsed()


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
    assert fires(rule, script(name="clip_eps", value=0.2, where="parameter", holder="loss")).severity == "warning"


def test_fires_as_a_note_when_it_may_be_left_over():
    assert fires(rule, script(name="clip_coef", value=0.2)).severity == "note"


def test_quiet_when_it_is_read():
    quiet(rule, script(name="clip_coef", value=0.2, read=1))


def test_declines_when_nothing_is_trained():
    not_enough(rule, Script())


IGNORED = """
    def loss(ratio, clip_eps): return -ratio
    train(loss(1.5, 0.2))
"""
USED = """
    def loss(ratio, clip_eps): return -min(ratio, 1 + clip_eps)
    train(loss(1.5, 0.2))
"""


def test_fires_on_a_program_that_leaves_it_aside(monkeypatch):
    fires(rule, watched(program_of(IGNORED, monkeypatch), without=())[1])


def test_quiet_on_the_program_that_uses_it(monkeypatch):
    quiet(rule, watched(program_of(USED, monkeypatch), without=())[1])
