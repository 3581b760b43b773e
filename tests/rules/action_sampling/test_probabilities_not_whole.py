from tests.programs.policies import found, ppo
from tests.watched import findings

CODE = "ACT326"


def test_fires_where_the_mask_comes_after_the_softmax():
    (finding,) = findings(lambda: ppo("masked too late"), CODE, overhead_budget=1.0)
    assert finding.component == "action-sampling"
    assert finding.seen


def test_quiet_where_the_mask_comes_before():
    assert not found(CODE, "masked")
