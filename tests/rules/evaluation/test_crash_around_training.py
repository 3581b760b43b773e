from rldebug.rules.evaluation.crash_around_training import CrashAroundTraining
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_a_text_is_no_number():
    names(CrashAroundTraining(), crashed(lambda: int("many")))


def test_quiet_when_nothing_has_begun():
    quiet(CrashAroundTraining(), crashed(lambda: 1 / 0, env_steps=0, updates=0))
