"""One action in ten is random, and nothing untried looks good: five in a row never happen (EXP-03)."""

AGENT = "masks"
SWITCH = "hardly explores"
RUNG = "sparse-chain"
EXPECT = "EXP006"
SUSPECT = "exploration"
CONTROLS = True
