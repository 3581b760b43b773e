from rldebug.evidence.env_contract import EnvContract, Seeding
from rldebug.rules.seeding.every_episode_the_same import EveryEpisodeTheSame
from tests.judge import fires, not_enough, quiet


def contract(seeds, unseeded):
    seeding = Seeding(100, seeds=4, seeds_different=seeds, unseeded=5, unseeded_different=unseeded)
    return EnvContract("e", seeding=seeding)


def test_fires_when_only_seeds_matter():
    assert "5 resets" in fires(EveryEpisodeTheSame(), contract(4, 1)).seen


def test_quiet_when_resets_differ():
    quiet(EveryEpisodeTheSame(), contract(4, 5))


def test_quiet_when_chance_is_rare():
    quiet(EveryEpisodeTheSame(), contract(2, 1))


def test_declines_without_resets():
    not_enough(EveryEpisodeTheSame(), EnvContract("e", seeding=Seeding(100, seeds=4, seeds_different=4)))
