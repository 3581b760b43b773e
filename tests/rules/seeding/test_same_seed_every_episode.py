from rldebug.rules.seeding.same_seed_every_episode import SameSeedEveryEpisode
from tests.judge import fires, not_enough, quiet
from tests.programs.worlds import Evaluation, Line, learn, script
from tests.watched import watched

rule = SameSeedEveryEpisode()


def test_fires_where_every_reset_is_given_the_seed():
    found = fires(rule, watched(lambda: learn(again=lambda env: env.reset(seed=0), steps=140))[1])
    assert found.component == "seeding"
    assert found.severity == "warning"
    assert "reset(seed=0)" in found.seen


def test_quiet_where_only_the_first_is_or_seeds_count_up():
    quiet(rule, watched(lambda: learn(steps=140))[1])
    quiet(rule, script({"seeds": list(range(32))}))


def test_quiet_where_only_the_evaluation_is_repeated():
    again = Evaluation(steps=4)
    quiet(rule, watched(lambda: learn(evaluate=again, steps=140))[1])


def test_fires_as_a_note_where_the_start_may_be_fixed():
    assert fires(rule, script({"seeds": [0] * 32})).severity == "note"


def test_fires_where_another_seed_begins_otherwise():
    class Whole(Line):
        def _look(self):
            return super()._look().round(1) * 10 // 1

    def program():
        learn(Whole(), again=lambda env: env.reset(seed=0), evaluate=Evaluation(Whole()), steps=140)

    assert fires(rule, watched(program)[1]).severity == "warning"


def test_quiet_where_the_seed_decides_nothing():
    class Deaf(Line):
        def reset(self, *, seed=None, options=None):
            return super().reset()

    quiet(rule, watched(lambda: learn(Deaf(), again=lambda env: env.reset(seed=0), steps=140))[1])


def test_not_enough_resets():
    assert "reset 3 times" in not_enough(rule, script({"resets": 3}))
