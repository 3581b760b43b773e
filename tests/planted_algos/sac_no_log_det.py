"""The correction for the tanh is missing from the log-probability (ACT-08)."""

ALGO = "sac"
PATCH = {
    "rldebug.parts.distributions": [
        (
            "        return _normal_log_prob(u, self.mean, self.log_std, self.space) - _per_row(log_slope, self.space)",
            "        return _normal_log_prob(u, self.mean, self.log_std, self.space)",
        ),
    ],
    "rldebug.parts.heads": [],
}
RUNG = "interior-optimum"
EXPECT = "ACT008"
SUSPECT = "action-sampling"
ALSO = {
    "entropy": "the temperature is steered by the same number",
}
