from rldebug.rules.installation.crash_before_training import CrashBeforeTraining
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_nothing_has_begun():
    names(CrashBeforeTraining(), crashed(lambda: {}["learning_rate"], env_steps=0, updates=0))


def test_quiet_when_training_is_under_way():
    quiet(CrashBeforeTraining(), crashed(lambda: {}["learning_rate"]))
