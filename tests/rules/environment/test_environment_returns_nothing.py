from rldebug.rules.environment.environment_returns_nothing import EnvironmentReturnsNothing
from tests.judge import quiet
from tests.rules.crashes import crashed, names


class Environment:
    def reset(self):
        self.state = 0

    def step(self, action):
        return self.state, 0.0, False, False, {}


def test_fires_when_reset_has_no_return():
    def program():
        env = Environment()
        obs = env.reset()
        return obs.shape

    names(EnvironmentReturnsNothing(), crashed(program))


def test_quiet_when_something_else_is_none():
    def program():
        obs = None
        return obs.shape

    quiet(EnvironmentReturnsNothing(), crashed(program))
