import dataclasses

from rldebug.evidence.env_contract import Difference, EnvContract, Seeding
from rldebug.rules.seeding.seed_does_not_determine import SeedDoesNotDetermine
from tests.judge import fires, not_enough, quiet

APART = Difference(3, "obs[1]", "0.5", "0.7", last=90, of=100, dynamics=True)


def test_fires_when_two_instances_part():
    found = fires(SeedDoesNotDetermine(), EnvContract("e", seeding=Seeding(100, same_seed=APART)))
    assert found.severity == "error"
    assert "step 3" in found.seen


def test_fires_as_a_note_when_declared_or_within_rounding():
    declared = Seeding(100, same_seed=APART, nondeterministic=True)
    rounding = Seeding(100, same_seed=dataclasses.replace(APART, rounding=True))
    assert fires(SeedDoesNotDetermine(), EnvContract("e", seeding=declared)).severity == "note"
    assert fires(SeedDoesNotDetermine(), EnvContract("e", seeding=rounding)).severity == "note"


def test_quiet_when_they_agree():
    quiet(SeedDoesNotDetermine(), EnvContract("e", seeding=Seeding(100)))


def test_declines_where_it_was_not_asked():
    not_enough(SeedDoesNotDetermine(), EnvContract("e"))
