import argparse

from rldebug.rules.installation.setting_missing import SettingMissing
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_an_option_was_never_added():
    def program():
        args = argparse.Namespace(gamma=0.99)
        return args.lr

    names(SettingMissing(), crashed(program))


def test_quiet_when_an_object_lacks_a_method():
    def program():
        return (1.0).lr

    quiet(SettingMissing(), crashed(program))
