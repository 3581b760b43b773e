from rldebug.evidence.foreign.reasons import in_a_log, in_short

SKIPPED = {
    "ADV001": "needs `advantage/mean`: pass advantage= to dbg.update(...)",
    "OPT001": "needs `parameters`: pass policy= or critic= together with optimizer= to rldebug.watch(...)",
    "ENV001": "not enough data yet: no rewards were handed over",
    "BUF004": "not enough data yet: no batch was handed over, needs dbg.replay(...) or targets in dbg.update(...)",
    "ENT001": "not enough data yet: 3 readings of the entropy, needs 20",
}


def test_nobody_can_hand_over_what_is_not_in_a_log():
    assert in_a_log(SKIPPED) == {
        "ADV001": "not in the log: `advantage/mean`",
        "OPT001": "not in the log: `parameters`",
        "ENV001": "not in the log: rewards",
        "BUF004": "not in the log: batch",
        "ENT001": SKIPPED["ENT001"],
    }


def test_what_a_log_does_not_hold_is_one_reason():
    assert list(in_short(in_a_log(SKIPPED)).values()) == ["needs what is not in the log"] * 4 + [SKIPPED["ENT001"]]
