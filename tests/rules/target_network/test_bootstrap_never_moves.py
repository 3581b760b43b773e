from rldebug.rules.target_network.bootstrap_never_moves import BootstrapNeverMoves
from tests.judge import fires, quiet
from tests.rules.ladders import ladder, passed, values


def test_fires_where_every_seed_has_a_number_of_its_own():
    found = fires(
        BootstrapNeverMoves(),
        ladder(passed("constant-reward"), values("delayed-reward", [0.31, 1.0], [-0.12, 1.0]), lam=None),
    )
    assert "by seed 0.31, -0.12" in found.seen


def test_quiet_where_all_seeds_agree():
    quiet(
        BootstrapNeverMoves(),
        ladder(passed("constant-reward"), values("delayed-reward", [0.31, 1.0], [0.32, 1.0]), lam=None),
    )


def test_quiet_where_there_is_no_second_network():
    quiet(BootstrapNeverMoves(), ladder(passed("constant-reward"), values("delayed-reward", [0.31, 1.0], [-0.12, 1.0])))
