from tests.rules.generations import found, lacking, rounds, sound

CODE = "PRE512"


def test_fires_on_the_fault():
    (finding,) = found(CODE, rounds(sound(), unknown=0.5))
    assert finding.component == "preprocessing"
    assert "50%" in finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, sound())
    assert not found(CODE, rounds(sound(), unknown=0.05))
    assert lacking(CODE, sound(rounds=0))
