from rldebug.evidence.env_contract import EnvContract, Layer
from rldebug.rules.preprocessing.frames_stacked_too_early import FramesStackedTooEarly
from tests.judge import fires, not_enough, quiet


def stack(*roles):
    """From the outside in."""
    return EnvContract("e", layers=tuple(Layer(f"L{i}", roles=frozenset(each)) for i, each in enumerate(roles)))


def test_fires_when_stacked_inside_of_a_skip():
    assert fires(FramesStackedTooEarly(), stack(["skips frames"], ["stacks frames"], [])).severity == "warning"


def test_fires_as_a_note_inside_of_a_resize():
    assert fires(FramesStackedTooEarly(), stack(["resizes", "makes grey"], ["stacks frames"], [])).severity == "note"


def test_quiet_when_stacked_last():
    quiet(FramesStackedTooEarly(), stack(["stacks frames"], ["makes grey"], ["skips frames"], []))


def test_declines_without_layers():
    not_enough(FramesStackedTooEarly(), EnvContract("e"))
