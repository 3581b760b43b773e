"""The normaliser clips to ±5 before it subtracts the mean: 5000 and 6000 become the same."""

ALGO = "ppo"
PATCH = {
    "rldebug.parts.normalise": [
        (
            "        return ((x - self._mean) * self._inverse_std).clamp(-self.clip, self.clip)",
            "        return (x.clamp(-self.clip, self.clip) - self._mean) * self._inverse_std",
        ),
    ],
}
RUNG = "offset-observation"
EXPECT = "NRM012"
SUSPECT = "normalisation"
CONTROLS = True
