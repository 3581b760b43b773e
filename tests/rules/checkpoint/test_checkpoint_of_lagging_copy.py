from rldebug.rules.checkpoint.checkpoint_of_lagging_copy import CheckpointOfLaggingCopy
from tests.judge import fires, quiet
from tests.programs.kept import learner
from tests.watched import watched

SCORES = [1.0, 2.0, 3.0, 4.0]
rule = CheckpointOfLaggingCopy()


def seen(folder, **how):
    return watched(lambda: learner(SCORES, folder, keep="highest", **how), overhead_budget=10.0)[1]


def test_fires_where_the_target_is_saved(tmp_path):
    assert "holds all tensors of slow, and " in fires(rule, seen(tmp_path, saved="slow")).seen


def test_quiet_where_the_trained_network_is_saved(tmp_path):
    quiet(rule, seen(tmp_path))
