import torch

from rldebug.rules.installation.setting_is_text import SettingIsText
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_a_learning_rate_is_text():
    def program():
        torch.optim.Adam(torch.nn.Linear(2, 2).parameters(), lr="1e-4")

    names(SettingIsText(), crashed(program))


def test_quiet_when_two_texts_are_subtracted():
    def program():
        return "a" - "b"

    quiet(SettingIsText(), crashed(program))
