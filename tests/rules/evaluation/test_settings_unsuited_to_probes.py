from rldebug.rules.evaluation.settings_unsuited_to_probes import SettingsUnsuitedToProbes
from tests.judge import fires, quiet
from tests.rules.ladders import ladder, passed, values


def test_fires_where_a_rung_is_undecided():
    found = fires(
        SettingsUnsuitedToProbes(),
        ladder(
            passed("constant-reward"),
            values("observed-reward", [0.4, 0.0], outcome="undecided", reason="only 12 optimizer steps"),
        ),
    )
    assert "only 12 optimizer steps" in found.seen


def test_quiet_where_all_are_decided():
    quiet(SettingsUnsuitedToProbes(), ladder(passed("constant-reward"), values("observed-reward", [0.4, 0.0])))
