from rldebug.rules.multiprocess.parameters_unused_under_ddp import ParametersUnusedUnderDdp
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying


def test_fires_when_a_head_got_no_gradient():
    names(
        ParametersUnusedUnderDdp(),
        crashed(
            saying(
                RuntimeError("Expected to have finished reduction in the prior iteration before starting a new one.")
            )
        ),
    )


def test_quiet_when_a_rank_waits():
    quiet(
        ParametersUnusedUnderDdp(),
        crashed(
            saying(RuntimeError("Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1, OpType=ALLREDUCE)"))
        ),
    )
