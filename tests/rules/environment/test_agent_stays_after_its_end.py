from rldebug.evidence.agent_contract import AgentContract, Left
from rldebug.rules.environment.agent_stays_after_its_end import AgentStaysAfterItsEnd
from tests.judge import fires, quiet


def test_fires_when_one_that_ended_is_still_there():
    assert "still" in fires(AgentStaysAfterItsEnd(), AgentContract("e", stayed=Left("red", 7, "ended", 4, 4))).message


def test_fires_when_one_comes_back():
    assert "back" in fires(AgentStaysAfterItsEnd(), AgentContract("e", revived=Left("red", 7, "ended before"))).message


def test_quiet_when_those_that_ended_are_gone():
    quiet(AgentStaysAfterItsEnd(), AgentContract("e", agents=("red", "blue"), steps=100, episodes=4))
