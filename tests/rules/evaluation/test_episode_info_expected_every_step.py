from rldebug.rules.evaluation.episode_info_expected_every_step import EpisodeInfoExpectedEveryStep
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_the_statistics_are_read_in_every_step():
    def program():
        info = {"lives": 3}
        return info["episode"]["r"]

    names(EpisodeInfoExpectedEveryStep(), crashed(program))


def test_quiet_when_another_key_is_missing():
    quiet(EpisodeInfoExpectedEveryStep(), crashed(lambda: {}["final_obs"]))
