import statistics

from rldebug.rules.evaluation.statistic_of_nothing import StatisticOfNothing
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_no_episode_has_ended():
    def program():
        returns = []
        return sum(returns) / len(returns)

    names(StatisticOfNothing(), crashed(program))


def test_fires_when_statistics_has_no_data():
    def program():
        return statistics.mean([])

    names(StatisticOfNothing(), crashed(program))


def test_quiet_when_a_setting_is_zero():
    def program():
        interval = 0
        return 10 / interval

    quiet(StatisticOfNothing(), crashed(program))
