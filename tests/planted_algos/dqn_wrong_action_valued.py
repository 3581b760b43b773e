"""The value of another action is fitted: an index that is off by one (BUF-30)."""

ALGO = "dqn"
REPLACE = [
    (
        "q(batch_obs).gather(-1, (batch.action - first)",
        "q(batch_obs).gather(-1, ((batch.action - first + 1) % actions)",
    ),
]
RUNG = "action-reward"
EXPECT = "BUF014"
SUSPECT = "buffer"
ALSO = {
    "action-sampling": "whether the wrong action is stored, played or valued is not seen from outside",
    "value-loss": "it is the loss that picks the value",
}
