from tests.rules.generations import found, lacking, rounds, sound

CODE = "ADV512"


def test_fires_on_the_fault():
    (finding,) = found(CODE, rounds(sound(), advantage=lambda each: -each.column("advantage")))
    assert finding.component == "advantage"
    assert "48 of 48" in finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, sound())
    assert not found(CODE, rounds(sound(), advantage=lambda each: each.column("advantage")[::-1]))
    assert lacking(CODE, rounds(sound(), reward=1.0))
