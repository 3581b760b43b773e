"""The extra step in which a vector restarts is learned from (BUF-06)."""

AGENT = "vectors"
SWITCH = "restart learned from"
RUNG = "next-step-autoreset"
EXPECT = "BUF009"
SUSPECT = "buffer"
CONTROLS = True
