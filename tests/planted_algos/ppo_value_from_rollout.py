"""The value loss is computed from values without a graph (VAL-02)."""

ALGO = "ppo"
REPLACE = [
    (
        'value_loss = (value - mb["target"])',
        'value_loss = (value.detach() - mb["target"])',
    ),
]
RUNG = "constant-reward"
EXPECT = "VAL010"
SUSPECT = "value-loss"
ALSO = {
    "autograd-graph": "the graph is cut on the way to the value loss",
}
