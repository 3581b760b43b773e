from tests.programs.policies import found, ppo
from tests.watched import findings

CODE = "ACT320"


def test_fires_where_the_clipped_action_is_stored():
    (finding,) = findings(lambda: ppo("clipped stored", numbers=True), CODE, overhead_budget=1.0)
    assert finding.component == "action-sampling"
    assert finding.seen


def test_quiet_where_the_raw_action_is_stored():
    assert not found(CODE, numbers=True)
