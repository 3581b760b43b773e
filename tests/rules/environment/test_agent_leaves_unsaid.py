from rldebug.evidence.agent_contract import AgentContract, Left
from rldebug.rules.environment.agent_leaves_unsaid import AgentLeavesUnsaid
from tests.judge import fires, quiet


def test_fires_when_one_is_gone_without_a_flag():
    left = Left("red", 7, "neither terminated nor truncated", 2, 30)
    assert fires(AgentLeavesUnsaid(), AgentContract("e", unsaid=left)).message.startswith("red is no longer")


def test_quiet_when_nobody_leaves_unsaid():
    quiet(AgentLeavesUnsaid(), AgentContract("e", agents=("red", "blue"), steps=100))
