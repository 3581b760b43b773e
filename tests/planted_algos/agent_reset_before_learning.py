"""The last observation is overwritten by the reset before it is learned from (BUF-05)."""

AGENT = "vectors"
SWITCH = "reset before learning"
RUNG = "disabled-autoreset"
EXPECT = "BUF009"
SUSPECT = "buffer"
CONTROLS = True
