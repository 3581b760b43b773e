"""The memory is kept over the end of an episode (BUF-20)."""

AGENT = "memory"
SWITCH = "kept over the end"
RUNG = "recall"
EXPECT = "BUF017"
SUSPECT = "buffer"
ALSO = {
    "network": "a maintainer may look for it in the recurrent network",
}
CONTROLS = True
