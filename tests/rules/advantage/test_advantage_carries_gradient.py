from tests.programs.policies import found

CODE = "ADV300"


def test_fires_where_the_critic_is_part_of_it():
    (finding,) = found(CODE, "attached")
    assert finding.component == "advantage"
    assert finding.seen


def test_quiet_where_it_is_data():
    assert not found(CODE)
