from rldebug.rules.environment.info_key_missing import InfoKeyMissing
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_the_last_observation_has_another_name():
    def program():
        infos = {"final_obs": [None]}
        return infos["final_observation"]

    names(InfoKeyMissing(), crashed(program))


def test_quiet_when_the_key_is_of_the_program_itself():
    quiet(InfoKeyMissing(), crashed(lambda: {}["learning_rate"]))
