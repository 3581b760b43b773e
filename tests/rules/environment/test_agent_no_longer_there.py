from rldebug.rules.environment.agent_no_longer_there import AgentNoLongerThere
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying


class Game:
    def __init__(self):
        self.possible_agents = ["white", "black"]

    def reset(self):
        return {"black": 0}

    def step(self, actions):
        return {}


def test_fires_when_an_agent_has_left():
    def program():
        game = Game()
        seen = game.reset()
        return seen["white"]

    assert "white is not in seen" in names(AgentNoLongerThere(), crashed(program)).message


def test_fires_when_a_dead_agent_is_given_an_action():
    text = "when an agent is dead, the only valid action is None"
    names(AgentNoLongerThere(), crashed(saying(ValueError(text))))


def test_quiet_when_the_key_is_no_agent():
    def program():
        game = Game()
        seen = game.reset()
        return seen["green"]

    quiet(AgentNoLongerThere(), crashed(program))
