from rldebug.evidence.env_contract import EnvContract, Seeding
from rldebug.rules.seeding.instances_play_alike import InstancesPlayAlike
from tests.judge import fires, not_enough, quiet


def contract(unseeded, instances):
    seeding = Seeding(100, unseeded=5, unseeded_different=unseeded, instances=3, instances_different=instances)
    return EnvContract("e", seeding=seeding)


def test_fires_when_fresh_instances_are_copies():
    assert "3 fresh instances" in fires(InstancesPlayAlike(), contract(5, 1)).seen


def test_quiet_when_they_differ():
    quiet(InstancesPlayAlike(), contract(5, 3))


def test_quiet_when_there_is_no_chance_in_it():
    quiet(InstancesPlayAlike(), contract(1, 1))


def test_declines_without_instances():
    not_enough(InstancesPlayAlike(), EnvContract("e", seeding=Seeding(100)))
