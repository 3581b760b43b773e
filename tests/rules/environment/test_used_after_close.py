from gymnasium.error import ClosedEnvironmentError

from rldebug.rules.environment.used_after_close import UsedAfterClose
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying


def test_fires_when_a_vector_environment_is_closed():
    names(
        UsedAfterClose(),
        crashed(saying(ClosedEnvironmentError("Trying to operate on `AsyncVectorEnv`, after a call to `close()`."))),
    )


def test_quiet_when_a_file_is_closed():
    quiet(UsedAfterClose(), crashed(saying(ValueError("I/O operation on closed file."))))
