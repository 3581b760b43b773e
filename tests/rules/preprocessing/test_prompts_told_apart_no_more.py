from tests.rules.generations import found, lacking, rounds, sound

CODE = "PRE511"


def test_fires_on_the_fault():
    (finding,) = found(CODE, rounds(sound(), prompt=1))
    assert finding.component == "preprocessing"
    assert "48 of 48" in finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, sound())
    assert not found(CODE, rounds(sound(), prompt=1, text=2))
    assert lacking(CODE, rounds(sound(rounds=1), text=1))
