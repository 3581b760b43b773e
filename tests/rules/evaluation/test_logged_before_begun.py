from rldebug.rules.evaluation.logged_before_begun import LoggedBeforeBegun
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying


def test_fires_when_no_run_is_open():
    names(LoggedBeforeBegun(), crashed(saying(RuntimeError("You must call wandb.init() before wandb.log()"))))


def test_quiet_when_a_run_was_named_twice():
    quiet(LoggedBeforeBegun(), crashed(saying(RuntimeError("run names must be unique"))))
