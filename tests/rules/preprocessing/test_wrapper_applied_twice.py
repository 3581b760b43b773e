from rldebug.evidence.env_contract import EnvContract, Layer
from rldebug.rules.preprocessing.wrapper_applied_twice import WrapperAppliedTwice
from tests.judge import fires, not_enough, quiet


def stack(*roles):
    """From the outside in."""
    return EnvContract("e", layers=tuple(Layer(f"L{i}", roles=frozenset(each)) for i, each in enumerate(roles)))


def test_fires_when_two_skip():
    assert fires(WrapperAppliedTwice(), stack(["skips frames"], [], ["skips frames"])).severity == "warning"


def test_fires_as_a_note_on_two_time_limits():
    assert fires(WrapperAppliedTwice(), stack(["limits time"], ["limits time"])).severity == "note"


def test_quiet_when_each_does_something_else():
    quiet(WrapperAppliedTwice(), stack(["stacks frames"], ["skips frames"], ["clips rewards"], ["clips rewards"]))


def test_declines_without_layers():
    not_enough(WrapperAppliedTwice(), EnvContract("e"))
