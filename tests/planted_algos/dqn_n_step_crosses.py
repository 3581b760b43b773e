"""n-step sums run on into the next episode (BUF-07)."""

ALGO = "dqn"
PATCH = {
    "rldebug.parts.buffers": [
        (
            '        on[1:] &= ~(self._flat["terminated"][row[:-1]] | self._flat["truncated"][row[:-1]])\n',
            "",
        ),
    ],
}
RUNG = "constant-reward"
EXPECT = "BUF010"
SUSPECT = "buffer"
ALSO = {
    "discounting": "a return that is not cut",
}
