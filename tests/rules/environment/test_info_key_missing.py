from rldebug.rules.environment.info_key_missing import InfoKeyMissing
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_the_last_observation_has_another_name():
    def program():
        infos = {"final_obs": [None]}
        return infos["final_observation"]

    names(InfoKeyMissing(), crashed(program))


class Bandit:
    def reset(self):
        return 0, {"arms": 3}

    def step(self, arm):
        return 0, 1.0, True, False, {"best": 1}


def test_fires_on_any_key_of_what_step_gives():
    def program():
        bandit = Bandit()
        _state, gain, _over, _cut, more = bandit.step(0)
        return gain - more["regret"]

    finding = names(InfoKeyMissing(), crashed(program))
    assert "more does not hold regret" in finding.message
    assert "more holds best" in finding.seen


def test_quiet_when_the_dict_is_not_of_the_environment():
    def program():
        options, _ = {"best": 1}, Bandit().step(0)
        return options["regret"]

    quiet(InfoKeyMissing(), crashed(program))


def test_quiet_when_the_key_is_of_the_program_itself():
    quiet(InfoKeyMissing(), crashed(lambda: {}["learning_rate"]))
