import gymnasium as gym
import numpy as np

from rldebug.rules.installation.package_missing import PackageMissing
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_a_package_is_not_installed():
    def program():
        import no_such_package  # noqa: F401

    names(PackageMissing(), crashed(program, env_steps=0, updates=0))


def test_fires_when_the_environments_of_a_package_are_not_registered():
    names(PackageMissing(), crashed(lambda: gym.make("NoSuchPackage/Pong-v5")))


def test_quiet_when_a_name_is_missing_in_a_package():
    quiet(PackageMissing(), crashed(lambda: np.bool8))
