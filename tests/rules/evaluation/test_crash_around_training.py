from rldebug.rules.evaluation.crash_around_training import CrashAroundTraining
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_an_average_is_taken_of_no_episodes():
    def program():
        returns = []
        return sum(returns) / len(returns)

    names(CrashAroundTraining(), crashed(program))


def test_quiet_when_nothing_has_begun():
    quiet(CrashAroundTraining(), crashed(lambda: 1 / 0, env_steps=0, updates=0))
