from tests.rules.generations import found, lacking, rounds, sound

CODE = "PRE513"


def test_fires_on_the_fault():
    (finding,) = found(CODE, rounds(sound(), asked=1))
    assert finding.component == "preprocessing"
    assert "192 of 192" in finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, sound())
    assert not found(CODE, rounds(sound(), asked=lambda each: each.column("prompt")))
    assert lacking(CODE, sound(rounds=0))
