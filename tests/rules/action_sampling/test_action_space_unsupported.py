from rldebug.rules.action_sampling.action_space_unsupported import ActionSpaceUnsupported
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying

TEXT = (
    "The algorithm only supports (<class 'Discrete'>,) as action spaces but Box(-1.0, 1.0, (2,), float32) was provided"
)


def test_fires_when_the_algorithm_wants_other_actions():
    assert "Box(-1.0, 1.0, (2,)" in names(ActionSpaceUnsupported(), crashed(saying(AssertionError(TEXT)))).message


def test_quiet_when_the_spaces_of_two_environments_differ():
    text = "Action spaces do not match: Discrete(2) != Discrete(4)"
    quiet(ActionSpaceUnsupported(), crashed(saying(ValueError(text))))
