from rldebug.evidence.agent_contract import AgentContract
from rldebug.rules.environment.agents_share_an_observation import AgentsShareAnObservation
from tests.judge import fires, quiet


def test_fires_when_two_are_handed_one_array():
    found = fires(AgentsShareAnObservation(), AgentContract("e", steps=50, one_array=("red", "blue")))
    assert found.message == "red and blue are handed the same array"


def test_quiet_when_each_has_its_own():
    quiet(AgentsShareAnObservation(), AgentContract("e", agents=("red", "blue"), steps=100))
