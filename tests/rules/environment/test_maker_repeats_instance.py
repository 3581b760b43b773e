from rldebug.evidence.env_contract import EnvContract
from rldebug.rules.environment.maker_repeats_instance import MakerRepeatsInstance
from tests.judge import fires, quiet


def test_fires_on_one_instance():
    fires(MakerRepeatsInstance(), EnvContract("e", same_instance=True))


def test_quiet_on_two():
    quiet(MakerRepeatsInstance(), EnvContract("e"))
