from rldebug.rules.buffer.minibatch_truncated import MinibatchTruncated
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying

TEXT = (
    "You have specified a mini-batch size of 100, but because the `RolloutBuffer` is of size `n_steps * n_envs = 2048`,"
    " after every 20 untruncated mini-batches, there will be a truncated mini-batch of size 48"
)


def test_fires_when_the_rest_is_small():
    finding = names(MinibatchTruncated(), crashed(saying(UserWarning(TEXT))))
    assert "2048 rows in batches of 100 leave 48" in finding.message
    assert "64 or 128" in finding.help


def test_quiet_when_another_warning_is_given():
    quiet(MinibatchTruncated(), crashed(saying(UserWarning("The reward is a NaN value."))))
