from tests.rules.generations import found, lacking, rounds, sound

CODE = "ADV511"


def test_fires_on_the_fault():
    (finding,) = found(CODE, rounds(sound(), advantage=lambda each: each.column("reward") + 1))
    assert finding.component == "advantage"
    assert finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, sound())
    assert not found(CODE, rounds(sound(), advantage=lambda each: 5 * each.column("advantage")))
    assert not found(CODE, rounds(sound(), advantage=lambda each: each.column("reward") + 1, unscored=1))
    assert lacking(CODE, rounds(sound(), advantage=0.0))
