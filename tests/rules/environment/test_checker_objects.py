from rldebug.evidence.env_contract import EnvContract, Remark
from rldebug.rules.environment.checker_objects import CheckerObjects
from tests.judge import fires, quiet


def remark(text, checker="gymnasium", raised=True):
    return EnvContract("e", remarks=(Remark(checker, "KeyError", text, raised),))


def test_fires_with_what_the_checker_said():
    assert "'start'" in fires(CheckerObjects(), remark("'start'")).seen


def test_fires_as_a_note_on_the_objection_of_another_library():
    assert fires(CheckerObjects(), remark("'start'", checker="other")).severity == "note"


def test_quiet_on_warnings_and_on_what_is_judged_elsewhere():
    quiet(CheckerObjects(), remark("'start'", raised=False))
    quiet(CheckerObjects(), remark("The observation is not within the observation space."))
