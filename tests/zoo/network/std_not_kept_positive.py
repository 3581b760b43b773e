"""The head's output is taken for a standard deviation, and nothing keeps it positive: its logarithm is NaN."""

BASE = "sac_like"
REPLACE = [
    (
        "log_std = self.log_std(h).clamp(LOG_STD_MIN, LOG_STD_MAX)",
        "log_std = self.log_std(h).log().clamp(LOG_STD_MIN, LOG_STD_MAX)",
    ),
]
EXPECT = "NET001"
TRAIN = {"updates": 60, "seed": 1}
