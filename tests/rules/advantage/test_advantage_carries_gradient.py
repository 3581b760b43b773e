from tests.programs.policies import found, ppo
from tests.watched import findings

CODE = "ADV300"


def test_fires_where_the_critic_is_part_of_it():
    (finding,) = findings(lambda: ppo("attached"), CODE, overhead_budget=1.0)
    assert finding.component == "advantage"
    assert finding.seen


def test_quiet_where_it_is_data():
    assert not found(CODE)
