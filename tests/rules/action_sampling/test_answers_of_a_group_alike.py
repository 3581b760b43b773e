from tests.rules.generations import facts, found, lacking, passes, rounds, sound

CODE = "ACT510"


def test_fires_on_the_fault():
    (finding,) = found(CODE, rounds(sound(), answer=lambda each: each.column("prompt")))
    assert finding.component == "action-sampling"
    assert "48 of 48 groups" in finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, sound())
    sure = passes(rounds(sound(), answer=lambda each: each.column("prompt")), entropy=0.01)
    assert not found(CODE, sure)  # a policy that has become sure is another matter
    assert not found(CODE, rounds(sound(), answer=lambda each: each.column("prompt"), tokens=1))
    assert lacking(CODE, sound(rounds=1))


def test_says_where_nothing_was_drawn():
    alike = rounds(sound(), answer=lambda each: each.column("prompt"))
    (finding,) = found(CODE, facts(alike, drawn=False))
    assert "drawn at random" in finding.seen
