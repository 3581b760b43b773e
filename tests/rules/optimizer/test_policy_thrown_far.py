from tests.rules.generations import facts, found, lacking, sound

CODE = "OPT510"


def test_fires_on_the_fault():
    (finding,) = found(CODE, facts(sound(), moved=2.5))
    assert finding.component == "optimizer"
    assert "12 of 12" in finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, sound())
    assert not found(CODE, facts(sound(), moved=2.5, moved_updates=50))  # little by each
    assert not found(
        CODE, facts(sound(), moved=lambda each: 3.0 if each.number == 2 else 1e-3)
    )  # once, at the beginning
    assert lacking(CODE, facts(sound(), moved=None))
