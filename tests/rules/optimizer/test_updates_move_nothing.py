from tests.rules.generations import facts, found, lacking, passes, sound

CODE = "OPT511"


def test_fires_on_the_fault():
    (finding,) = found(CODE, facts(sound(), moved=0.0))
    assert finding.component == "optimizer"
    assert "12 updates" in finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, sound())
    assert not found(CODE, facts(sound(), moved=lambda each: 0.0 if each.number < 5 else 1e-4))  # a warm-up
    assert not found(CODE, passes(facts(sound(), moved=0.0), force=0.0))  # there was nothing to learn
    assert lacking(CODE, facts(sound(), moved=None))
