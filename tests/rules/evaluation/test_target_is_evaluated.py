from tests.programs.written import found

CODE = "EVA365"


def test_fires_on_the_fault():
    (finding,) = found(CODE, "target", "examined")
    assert finding.component == "evaluation"
    assert finding.where.line


def test_quiet_where_the_trained_one_plays_or_the_copy_was_just_made():
    assert not found(CODE, kind="examined")
    assert not found(CODE, "just loaded", "examined")
