from rldebug.evidence.env_contract import EnvContract, Seeding
from rldebug.rules.seeding.seed_ignored import SeedIgnored
from tests.judge import fires, not_enough, quiet


def contract(seeds, unseeded, layer=""):
    seeding = Seeding(100, seeds=4, seeds_different=seeds, unseeded=5, unseeded_different=unseeded, seed_layer=layer)
    return EnvContract("e", seeding=seeding)


def test_fires_with_the_wrapper_that_swallows_it():
    assert "Log" in fires(SeedIgnored(), contract(1, 5, layer="Log")).message


def test_quiet_when_seeds_matter():
    quiet(SeedIgnored(), contract(4, 5))


def test_quiet_when_there_is_no_chance_in_it():
    quiet(SeedIgnored(), contract(1, 1))


def test_declines_without_seeds():
    not_enough(SeedIgnored(), EnvContract("e", seeding=Seeding(100)))
