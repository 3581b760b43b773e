from tests.rules.generations import facts, found, lacking, sound

CODE = "SEE510"


def test_fires_on_the_fault():
    (finding,) = found(CODE, facts(sound(), generator=7))
    assert finding.component == "seeding"
    assert "12 of 12" in finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, sound())
    assert not found(CODE, facts(sound(), generator=7, drawn=False))  # nothing is drawn here: a server does it
    assert lacking(CODE, sound(rounds=2))
