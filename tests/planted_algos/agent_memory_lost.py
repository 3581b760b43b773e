"""The memory is reset at every step (BUF-20)."""

AGENT = "memory"
SWITCH = "lost at every step"
RUNG = "recall"
EXPECT = "BUF017"
SUSPECT = "buffer"
ALSO = {
    "network": "a maintainer may look for it in the recurrent network",
}
