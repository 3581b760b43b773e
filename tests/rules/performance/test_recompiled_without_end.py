from rldebug.rules.performance.recompiled_without_end import RecompiledWithoutEnd
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying


def test_fires_when_the_limit_is_reached():
    names(RecompiledWithoutEnd(), crashed(saying(RuntimeError("torch._dynamo hit config.recompile_limit (8)"))))


def test_quiet_when_a_limit_of_another_kind_is_reached():
    quiet(RecompiledWithoutEnd(), crashed(saying(RuntimeError("hit the limit of open files"))))
