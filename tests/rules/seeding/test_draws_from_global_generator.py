from rldebug.evidence.env_contract import Difference, EnvContract, Seeding
from rldebug.rules.seeding.draws_from_global_generator import DrawsFromGlobalGenerator
from tests.judge import fires, not_enough, quiet

APART = Difference(3, "obs[1]", "0.5", "0.7", last=90, of=100, dynamics=True)


def test_fires_with_the_generator():
    seeding = Seeding(100, global_generator="numpy.random", global_difference=APART)
    assert "numpy.random" in fires(DrawsFromGlobalGenerator(), EnvContract("e", seeding=seeding)).message


def test_quiet_when_the_global_generators_do_not_matter():
    quiet(DrawsFromGlobalGenerator(), EnvContract("e", seeding=Seeding(100)))


def test_declines_when_nothing_is_repeated_anyway():
    not_enough(DrawsFromGlobalGenerator(), EnvContract("e", seeding=Seeding(100, same_seed=APART)))
