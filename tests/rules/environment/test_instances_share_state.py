from rldebug.evidence.env_contract import Difference, EnvContract, Seeding
from rldebug.rules.environment.instances_share_state import InstancesShareState
from tests.judge import fires, not_enough, quiet

APART = Difference(3, "obs[1]", "0.5", "0.7", last=90, of=100, dynamics=True)


def test_fires_with_the_attribute_they_share():
    found = fires(InstancesShareState(), EnvContract("e", seeding=Seeding(100, neighbour=APART, shared="World.grid")))
    assert found.severity == "error"
    assert "World.grid" in found.seen


def test_quiet_when_a_neighbour_changes_nothing():
    quiet(InstancesShareState(), EnvContract("e", seeding=Seeding(100)))


def test_declines_where_it_was_not_asked():
    not_enough(InstancesShareState(), EnvContract("e"))
