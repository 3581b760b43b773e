from tests.programs.written import found

CODE = "EVA374"


def test_fires_on_the_fault():
    (finding,) = found(CODE, "stores", "examined")
    assert finding.component == "evaluation"
    assert "2 seeds" in finding.seen


def test_quiet_where_nothing_is_stored():
    assert not found(CODE, kind="examined")
