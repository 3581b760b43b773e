from rldebug.evidence.agent_contract import AgentContract
from rldebug.evidence.env_contract import Misfit
from rldebug.rules.environment.agent_left_out import AgentLeftOut
from tests.judge import fires, quiet


def test_fires_when_the_last_step_is_told_to_nobody():
    lacking = Misfit("rewards", "nothing for red", "one for each", "step()", 12, 3, 90)
    assert "nothing for red at step 12" in fires(AgentLeftOut(), AgentContract("e", absent=(lacking,))).seen


def test_quiet_when_each_is_given_all():
    quiet(AgentLeftOut(), AgentContract("e", agents=("red", "blue"), steps=100))
