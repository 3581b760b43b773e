from tests.rules.generations import facts, found, lacking, sound

CODE = "NET510"


def test_fires_on_the_fault():
    (finding,) = found(CODE, facts(sound(), noise=0.1))
    assert finding.component == "network"
    assert "0.1 nats" in finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, sound())
    assert not found(CODE, facts(sound(), noise=1e-6))
    assert lacking(CODE, facts(sound(), noise=None))
