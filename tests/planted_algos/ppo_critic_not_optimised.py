"""The critic's parameters are in no optimizer."""

ALGO = "ppo"
REPLACE = [
    (
        "optimizer = torch.optim.Adam(parameters,",
        "optimizer = torch.optim.Adam([each for name, each in model.named_parameters() if "
        '"critic" not in name and "value" not in name],',
    ),
]
RUNG = "constant-reward"
EXPECT = "VAL010"
SUSPECT = "value-loss"
ALSO = {
    "optimizer": "whether the critic gets no gradient or no step is not seen from outside",
}
