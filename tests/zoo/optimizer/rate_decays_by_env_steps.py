"""The learning rate decays with the environment steps, over a length that counts updates: it is 0 early on."""

BASE = "dqn"
REPLACE = [
    (
        "            n_updates += 1\n",
        "            n_updates += 1\n"
        '            optimizer.param_groups[0]["lr"] = cfg["lr"] * max(0.0, 1 - step / updates)\n',
    ),
]
EXPECT = "OPT310"
TRAIN = {"updates": 600}
