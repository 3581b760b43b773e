"""A cut-off episode is continued with the first observation of the next one (BUF-05)."""

AGENT = "vectors"
SWITCH = "first of the next"
RUNG = "same-step-autoreset"
EXPECT = "BUF009"
SUSPECT = "buffer"
CONTROLS = True
