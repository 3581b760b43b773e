from rldebug.evidence.env_contract import EnvContract, Failure
from rldebug.rules.action_sampling.allowed_action_refused import AllowedActionRefused
from tests.judge import fires, not_enough, quiet

RAISED = Failure("step([1.])", 0, "IndexError", "IndexError: gears (env.py:30)", file="env.py", line=30)


def test_fires_with_the_action():
    found = fires(AllowedActionRefused(), EnvContract("e", action_space="Box(-1, 1)", refused=(RAISED,), refused_of=3))
    assert "step([1.])" in found.message
    assert "1 of 3" in found.seen


def test_quiet_when_every_edge_can_be_played():
    quiet(AllowedActionRefused(), EnvContract("e", refused_of=3))


def test_declines_without_an_edge():
    not_enough(AllowedActionRefused(), EnvContract("e"))
