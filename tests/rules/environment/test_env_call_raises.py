from rldebug.evidence.env_contract import EnvContract, Failure
from rldebug.rules.environment.env_call_raises import EnvCallRaises
from tests.judge import fires, quiet

RAISED = Failure("step(3)", 17, "IndexError", "IndexError: out of bounds (env.py:30)", file="env.py", line=30)


def test_fires_with_the_call_and_the_line():
    found = fires(EnvCallRaises(), EnvContract("e", failures=(RAISED,)))
    assert "step(3)" in found.message
    assert (found.where.file, found.where.line, found.where.env_step) == ("env.py", 30, 17)


def test_quiet_when_no_call_raises():
    quiet(EnvCallRaises(), EnvContract("e", steps=4000))
