from rldebug.evidence.script import Script
from rldebug.forensics.roles import Roles
from rldebug.rules.exploration import exploration_setting_never_used as here
from rldebug.rules.exploration.exploration_setting_never_used import ExplorationSettingNeverUsed
from tests.judge import fires, not_enough, quiet
from tests.programs.options import program_of
from tests.watched import watched

rule = ExplorationSettingNeverUsed()


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


def test_fires_when_the_end_of_the_schedule_is_never_read():
    fires(rule, script(name="EPS_MIN", value=0.05, where="constant"))


def test_quiet_when_it_is_read():
    quiet(rule, script(name="EPS_MIN", value=0.05, where="constant", read=1))


def test_quiet_when_a_function_ignores_some_epsilon_in_a_program_without_a_q_function():
    quiet(rule, script(name="eps", value=None, where="parameter", holder="scale"))


def test_fires_when_the_function_that_acts_ignores_it(monkeypatch):
    monkeypatch.setattr(here, "roles_of", lambda _: Roles(family="q-learning"))
    fires(rule, script(name="eps", value=None, where="parameter", holder="act"))
    quiet(rule, script(name="eps", value=1e-8, where="parameter", holder="scale"))
    quiet(rule, script(name="eps", value=0.2, where="constant"))


def test_declines_when_nothing_is_trained():
    not_enough(rule, Script())


IGNORED = """
    EPS_END = 0.05
    train(1.0)
"""
USED = """
    EPS_END = 0.05
    train(max(1.0 * 0.9, EPS_END))
"""


def test_fires_on_a_program_that_leaves_it_aside(monkeypatch):
    fires(rule, watched(program_of(IGNORED, monkeypatch), without=())[1])


def test_quiet_on_the_program_that_uses_it(monkeypatch):
    quiet(rule, watched(program_of(USED, monkeypatch), without=())[1])
