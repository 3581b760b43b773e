from rldebug.rules.installation.backend_missing import BackendMissing
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying


def test_fires_when_there_is_no_nccl():
    names(BackendMissing(), crashed(saying(RuntimeError("Distributed package doesn't have NCCL built in"))))


def test_quiet_when_there_is_no_group():
    quiet(
        BackendMissing(),
        crashed(saying(ValueError("Default process group has not been initialized, please call init_process_group."))),
    )
