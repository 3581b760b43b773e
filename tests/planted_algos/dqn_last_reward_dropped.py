"""The reward of a last step is multiplied with 1 − terminated (RWD-08)."""

ALGO = "dqn"
PATCH = {
    "rldebug.parts.buffers": [
        (
            'terms = np.where(on, self._flat["reward"][row], 0.0)',
            'terms = np.where(on & ~self._flat["terminated"][row], self._flat["reward"][row], 0.0)',
        ),
    ],
}
RUNG = "constant-reward"
EXPECT = "DIS015"
SUSPECT = "discounting"
