from rldebug.evidence.agent_contract import AgentContract
from rldebug.evidence.env_contract import Misfit
from rldebug.rules.environment.space_made_anew import SpaceMadeAnew
from tests.judge import fires, quiet

ANEW = Misfit("action_space('red')", "another object each time", "one and the same", "__init__", 0, 1, 4, lenient=True)


def test_fires_when_a_space_is_built_in_the_method():
    assert fires(SpaceMadeAnew(), AgentContract("e", spaces=(ANEW,))).severity == "warning"


def test_fires_harder_when_the_second_is_not_even_equal():
    unequal = Misfit("action_space('red')", "Discrete(2), then Discrete(3)", "one", "__init__", 0, 1, 4)
    assert fires(SpaceMadeAnew(), AgentContract("e", spaces=(ANEW, unequal))).severity == "error"


def test_quiet_when_spaces_stay():
    quiet(SpaceMadeAnew(), AgentContract("e", agents=("red",), steps=100))
