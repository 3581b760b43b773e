from rldebug.evidence.agent_contract import AgentContract
from rldebug.rules.environment.possible_agents_change import PossibleAgentsChange
from tests.judge import fires, quiet


def test_fires_when_the_list_shrinks():
    assert "3 agents at first, 1 later" in fires(PossibleAgentsChange(), AgentContract("e", possible=(3, 1))).seen


def test_fires_when_somebody_unknown_takes_part():
    assert "green" in fires(PossibleAgentsChange(), AgentContract("e", agents=("red",), unknown=("green",))).seen


def test_quiet_when_it_stays():
    quiet(PossibleAgentsChange(), AgentContract("e", agents=("red", "blue"), steps=100))
