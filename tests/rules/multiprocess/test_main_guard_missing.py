from rldebug.rules.multiprocess.main_guard_missing import MainGuardMissing
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying


def test_fires_when_a_worker_starts_the_program_again():
    names(
        MainGuardMissing(),
        crashed(saying(RuntimeError("before the current process has finished its bootstrapping phase."))),
    )


def test_quiet_when_a_worker_is_gone():
    quiet(MainGuardMissing(), crashed(saying(EOFError())))
