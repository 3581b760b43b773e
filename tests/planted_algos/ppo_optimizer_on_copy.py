"""The optimizer holds the parameters of a copy (MPR-09)."""

ALGO = "ppo"
REPLACE = [
    (
        "parameters = list(model.parameters())",
        "import copy\n    parameters = list(copy.deepcopy(model).parameters())",
    ),
    (
        "loss.backward()\n",
        "loss.backward()\n"
        "                for mine, theirs in zip(parameters, model.parameters(), "
        "strict=True):\n"
        "                    mine.grad = theirs.grad\n",
    ),
    (
        "optimizer.zero_grad()",
        "model.zero_grad()",
    ),
]
RUNG = "constant-reward"
EXPECT = "OPT010"
SUSPECT = "optimizer"
CONTROLS = True
