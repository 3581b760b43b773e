from gymnasium.error import AlreadyPendingCallError, NoAsyncCallError

from rldebug.rules.multiprocess.vector_calls_out_of_order import VectorCallsOutOfOrder
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying


def test_fires_when_a_call_is_pending():
    names(
        VectorCallsOutOfOrder(),
        crashed(
            saying(
                AlreadyPendingCallError(
                    "Calling `step_async` while waiting for a pending call to `step` to complete.", "step"
                )
            )
        ),
    )


def test_fires_when_nothing_was_asked():
    names(
        VectorCallsOutOfOrder(),
        crashed(saying(NoAsyncCallError("Calling `step_wait` without any prior call to `step_async`.", "step"))),
    )


def test_quiet_when_a_worker_is_slow():
    quiet(
        VectorCallsOutOfOrder(), crashed(saying(TimeoutError("The call to `step_wait` has timed out after 1 second.")))
    )
