from tests.rules.generations import found, lacking, rounds, sound

CODE = "ENV510"


def test_fires_on_the_fault():
    (finding,) = found(CODE, rounds(sound(), **{"reward/score": 0.0}))
    assert finding.component == "environment"
    assert "0 for each of 192" in finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, sound())
    assert not found(CODE, rounds(sound(), answer=5, **{"reward/score": 0.0}))  # one answer deserves one reward
    assert lacking(CODE, sound(rounds=2))


def test_one_function_of_several_is_a_note():
    (finding,) = found(CODE, rounds(sound(), **{"reward/format": 1.0}))
    assert finding.severity == "note"
    assert "format" in finding.message
