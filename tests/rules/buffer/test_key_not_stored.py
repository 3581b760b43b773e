import torch

from rldebug.rules.buffer.key_not_stored import KeyNotStored
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_the_key_is_spelt_differently():
    def program():
        batch = {"obs": torch.zeros(2), "reward": torch.zeros(2)}
        return batch["rewards"]

    names(KeyNotStored(), crashed(program))


def test_quiet_when_info_has_no_episode():
    def program():
        info = {"lives": torch.zeros(2)}
        return info["episode"]

    quiet(KeyNotStored(), crashed(program))


def test_quiet_when_a_setting_is_missing():
    def program():
        settings = {"gamma": 0.99}
        return settings["lr"]

    quiet(KeyNotStored(), crashed(program))
