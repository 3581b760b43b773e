from tests.rules.generations import found, lacking, passes, rounds, sound

CODE = "ENT510"


def test_fires_on_the_fault():
    (finding,) = found(
        CODE,
        rounds(passes(sound(), entropy=lambda each: 2.0 / each.round**2), answer=lambda each: each.column("prompt")),
    )
    assert finding.component == "entropy"
    assert finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, sound())
    assert not found(CODE, passes(sound(), entropy=lambda each: 2.0 / each.round**2))  # answers still differ
    assert not found(CODE, rounds(sound(), answer=lambda each: each.column("prompt")))
    assert lacking(CODE, sound(rounds=4))
