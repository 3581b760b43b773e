from tests.rules.generations import found, lacking, rounds, sound

CODE = "ADV515"


def test_fires_on_the_fault():
    (finding,) = found(CODE, rounds(sound(), reward=lambda each: each.column("group") + 1e-3 * each.column("reward")))
    assert finding.component == "advantage"
    assert finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, sound())
    small = rounds(sound(), reward=lambda each: 1e-3 * each.column("reward"))  # all are small, none is blown up
    assert not found(CODE, small)
    unscaled = rounds(sound(), reward=lambda each: each.column("group") + 1e-3 * each.column("reward"), advantage=1e-3)
    assert not found(CODE, unscaled)
    assert lacking(CODE, rounds(sound(), reward=1.0))
