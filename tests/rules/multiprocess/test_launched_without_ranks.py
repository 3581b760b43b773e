from rldebug.rules.multiprocess.launched_without_ranks import LaunchedWithoutRanks
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying


def test_fires_when_no_rank_is_set():
    names(
        LaunchedWithoutRanks(),
        crashed(
            saying(ValueError("Error initializing torch.distributed: environment variable RANK expected, but not set"))
        ),
    )


def test_quiet_when_another_variable_is_missing():
    quiet(LaunchedWithoutRanks(), crashed(saying(ValueError("environment variable DATA_DIR expected, but not set"))))
