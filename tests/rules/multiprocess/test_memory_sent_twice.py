from rldebug.rules.multiprocess.memory_sent_twice import MemorySentTwice
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying


def test_fires_when_a_descriptor_is_kept_twice():
    names(MemorySentTwice(), crashed(saying(ValueError("bad value(s) in fds_to_keep"))))


def test_quiet_when_a_value_is_bad_elsewhere():
    quiet(MemorySentTwice(), crashed(saying(ValueError("bad value(s) in the settings"))))
