from rldebug.evidence.env_contract import Difference, EnvContract, Layer, Seeding
from rldebug.rules.environment.reset_leaks_state import ResetLeaksState
from tests.judge import fires, not_enough, quiet


def contract(*, step=2, other="2", last=100, dynamics=True, rounding=False, in_wrapper=False, roles=()):
    apart = Difference(step, "obs[0]", "1", other, last, 100, dynamics, rounding, layer="Inner", in_wrapper=in_wrapper)
    layers = (Layer("Outer"), Layer("Inner", roles=frozenset(roles)))
    return EnvContract("e", layers=layers, seeding=Seeding(100, played=apart))


def test_fires_when_a_played_instance_goes_another_way():
    found = fires(ResetLeaksState(), contract())
    assert found.severity == "warning"
    assert "Inner" in found.message


def test_fires_on_a_wrapper_whose_difference_passes():
    assert fires(ResetLeaksState(), contract(last=3, dynamics=False, in_wrapper=True)).severity == "warning"


def test_fires_as_a_note_on_what_looks_like_running_statistics():
    assert fires(ResetLeaksState(), contract(dynamics=False, in_wrapper=True)).severity == "note"


def test_fires_as_a_note_on_rounding():
    assert fires(ResetLeaksState(), contract(rounding=True)).severity == "note"


def test_fires_as_a_note_when_late_and_slight():
    assert fires(ResetLeaksState(), contract(step=60, other="1.01")).severity == "note"
    assert fires(ResetLeaksState(), contract(step=60)).severity == "warning"


def test_quiet_on_a_normaliser():
    quiet(ResetLeaksState(), contract(in_wrapper=True, roles=["normalises rewards"]))


def test_quiet_when_both_go_the_same_way():
    quiet(ResetLeaksState(), EnvContract("e", seeding=Seeding(100)))


def test_declines_where_it_was_not_asked():
    not_enough(ResetLeaksState(), EnvContract("e"))
